import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A session that is being logged out names the intent: where its outcome was lost, whoever finds it gone knows by whom.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table service_session add column log_out_intent bigint`
})
