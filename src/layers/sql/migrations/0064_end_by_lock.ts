import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A session that a lock signs out on sight has that for its reason, and not a deadline that was missed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table session
      drop constraint session_ending_reason_check,
      drop constraint session_withheld_reason_check,
      add constraint session_ending_reason_check check (ending_reason in ('rejected', 'autokill', 'lock', 'hijacked')),
      add constraint session_withheld_reason_check
        check (withheld_reason in ('rejected', 'autokill', 'lock', 'hijacked'))`
})
