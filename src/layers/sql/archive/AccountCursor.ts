/** The condition that lists accounts from where a list before has ended. */
import type { SqlClient, Statement } from "effect/sql"

/** Below the id of every account. */
const start = "00000000-0000-0000-0000-000000000000"

/** Holds for accounts whose id comes after this one; the empty text is before all. */
export const isAfter = (sql: SqlClient.SqlClient, accountId: string): Statement.Fragment =>
  sql`account.id > ${accountId === "" ? start : accountId}::uuid`
