import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Since when a browser is known, and whether a console session was begun in one that was known for long. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // The owner is let through the wall while those that are known get the moment that is kept of them.
  yield* sql`alter table known_browser no force row level security`
  yield* sql`alter table known_browser add column known_since timestamptz(3)`
  yield* sql`update known_browser set known_since = last_used_at`
  yield* sql`alter table known_browser alter column known_since set not null`
  yield* sql`alter table known_browser force row level security`
  yield* sql`alter table console_session add column long_known boolean not null default false`
})
