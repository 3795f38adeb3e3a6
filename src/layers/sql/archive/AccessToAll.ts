/** The condition that a caller can access every account of a list, which holds and cleanups share. */
import type { SqlClient, Statement } from "effect/sql"
import { type Caller, canAccessEveryAccount, isNarrowing } from "../../../domain/people/Access.ts"
import { canAccess } from "../accounts/AccountAccess.ts"

/** True if the caller can access every account of the organization, those to come among them. */
export const canAccessAll = ({ limit, role }: Caller["Service"]): boolean =>
  canAccessEveryAccount(role) && !isNarrowing(limit)

/** Holds for an array of ids of accounts that are there and that the caller can access. */
export const areAccessible = (
  sql: SqlClient.SqlClient,
  caller: Caller["Service"],
  ids: Statement.Fragment
): Statement.Fragment =>
  sql`not exists (
    select 1 from unnest(${ids}) as named (id)
    where not exists (
      select 1 from account
      where account.organization_id = ${caller.organizationId} and account.id = named.id and ${
    canAccess(sql, caller)
  }))`

/** Holds for a stored array of ids, of which some accounts may be gone; null is every account. */
export const isAccessible = (
  sql: SqlClient.SqlClient,
  caller: Caller["Service"],
  ids: Statement.Fragment
): Statement.Fragment =>
  canAccessAll(caller) ? sql`true` : sql`(${ids} is not null and ${areAccessible(sql, caller, ids)})`
