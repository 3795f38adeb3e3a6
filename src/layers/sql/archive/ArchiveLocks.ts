/** The lock on an account's archive, its row in `archive_state`, which every writer of the archive takes first. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Sql from "../../postgres/Rows.ts"

/** Locks it for the rest of the transaction; no row where the account is gone. */
export const lockArchive = (
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: ArchivedAccount
): Statement.Statement<object> =>
  sql`
    select 1 from archive_state where organization_id = ${organizationId} and account_id = ${accountId}
    for no key update`

/** As `lockArchive`; false where the account is gone. */
export const holdArchive = (sql: SqlClient.SqlClient, account: ArchivedAccount): Effect.Effect<boolean> =>
  Sql.exists(Effect.orDie(lockArchive(sql, account)))

/** Locks those for which the condition holds, in the order of their accounts. */
export const lockArchives = (sql: SqlClient.SqlClient, which: Statement.Fragment): Statement.Statement<object> =>
  sql`select 1 from archive_state where ${which} order by account_id for no key update`
