import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is due for more than a poll is found apart, so that it is taken first. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`drop index monitor_due`
  yield* sql`
    create index monitor_due on monitor ((case when urgent or due_at <= next_at then 0 else 1 end), next_at)
    where next_at is not null`
})
