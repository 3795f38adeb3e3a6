import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A deadline is found when it comes, also while the poll before it is late. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`drop index monitor_due`
  yield* sql`create index monitor_poll on monitor (next_at) where next_at is not null and not urgent`
  yield* sql`
    create index monitor_pressing on monitor ((case when urgent then next_at else greatest(next_at, due_at) end))
    where next_at is not null and (urgent or due_at is not null)`
})
