import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Since when an organization knows that the messenger cannot be reached; null while it can. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table organization add column messenger_away_at timestamptz(3)`
})
