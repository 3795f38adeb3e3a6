import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Since when a browser is known, and whether a console session was begun in one that was known for long. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // Those that are known already count as new for a day.
  yield* sql`alter table known_browser add column known_since timestamptz(3) not null default now()`
  yield* sql`alter table known_browser alter column known_since drop default`
  yield* sql`alter table console_session add column long_known boolean not null default false`
})
