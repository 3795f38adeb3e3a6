import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Of how many accounts an organization was told at once that nobody looks at them; it is told again when they are back.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table organization add column silent_accounts integer`
})
