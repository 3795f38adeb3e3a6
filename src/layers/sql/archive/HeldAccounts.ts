/** The conditions under which an admin's hold keeps something. */
import type { SqlClient, Statement } from "effect/sql"

/** Holds for a hold that keeps something of a day before `before`; null is every day. */
export const keepsBefore = (
  sql: SqlClient.SqlClient,
  before: string | Statement.Fragment | null
): Statement.Fragment =>
  sql`released_at is null and (since is null or ${before}::date is null or since < ${before}::date)`

/** Holds for an account of which a hold keeps something of a day before `before`; null is every day. */
export const isHeld = (
  sql: SqlClient.SqlClient,
  { accountId, before, organizationId }: {
    readonly organizationId: string
    readonly accountId: Statement.Fragment
    readonly before: string | Statement.Fragment | null
  }
): Statement.Fragment =>
  sql`exists (
    select 1 from archive_hold
    where archive_hold.organization_id = ${organizationId} and ${keepsBefore(sql, before)}
      and (account_ids is null or ${accountId} = any(account_ids)))`
