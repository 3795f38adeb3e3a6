import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const polls = "next_at is not null and not urgent"
const presses = "next_at is not null and (urgent or due_at is not null)"

/** When an account that the messenger has asked to wait can be looked at is part of when it is due. */
const poll = "(greatest(next_at, flood_until))"
const pressing =
  "(case when urgent then greatest(next_at, flood_until) else greatest(next_at, due_at, flood_until) end)"

/**
 * What is due is found by time, and by organization where one of them would keep the others waiting. Holding an account
 * changes no index.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const create = (name: string, columns: string, where: string) =>
    sql`create index ${sql(name)} on monitor (${sql.literal(columns)}) where ${sql.literal(where)}`
  yield* sql`drop index monitor_busy, monitor_poll, monitor_pressing`
  yield* create("monitor_poll", poll, polls)
  yield* create("monitor_poll_of", `organization_id, ${poll}`, polls)
  yield* create("monitor_pressing", pressing, presses)
  yield* create("monitor_pressing_of", `organization_id, ${pressing}`, presses)
})
