import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Tenant from "../../postgres/Tenant.ts"

/**
 * Locks the monitors of several accounts by their ids, within the transaction, before one statement changes them all.
 * Giving back the accounts that were polled locks many monitors too; in another order both would wait for each other.
 */
export const lockMonitors = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  ids: ReadonlyArray<string>
): Effect.Effect<void, SqlError.SqlError> =>
  Tenant.post(sql)(sql`
      select from monitor where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])
      order by account_id for no key update`)
