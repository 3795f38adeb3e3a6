import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What an offboarded account leaves: sessions that are still to be logged out, and a secret of whose end is told. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table account_task drop constraint account_task_kind_check`
  yield* sql`
    alter table account_task add constraint account_task_kind_check
    check (kind in ('rotate_two_fa', 'cancel_recovery_email', 'pair', 'log_out'))`
  yield* sql`alter table account_secret add column end_told_at timestamptz(3)`
  yield* sql`grant update (end_told_at) on account_secret to console_app`
})
