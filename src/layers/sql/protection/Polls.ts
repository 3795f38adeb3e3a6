/** The state of the polls of all organizations' accounts. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { unpolledReported } from "../../../domain/Limits.ts"
import { type PollFacts, unpolledSince } from "../../../domain/protection/PollFacts.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as MonitorClaims from "./MonitorClaims.ts"

const first = (which: string, at: string) => `
  (select ${at} from monitor where ${which} and ${MonitorClaims.unheld} order by ${at} limit 1)`

/** The first due account is found by the indexes of the claims; the last poll is only read while one waits for long. */
const waiting = `
  with due as materialized (
    select least(${first(MonitorClaims.polls, MonitorClaims.poll)},
      ${first(MonitorClaims.presses, MonitorClaims.pressing)}) as since
  )
  select since as due_since, case when since <= $2 then (
    select max(last_polled_at) from monitor where next_at is not null) end as tried_at
  from due where since <= $1`

/** The moment since which no process polls any account, although one is due; null if none is. */
export const waitingSince = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* Tenant.askInOrder<Pick<PollFacts, "due_since" | "tried_at">>(sql, waiting, [
    new Date(now),
    new Date(now - Duration.toMillis(unpolledReported))
  ])
  return row === undefined ? null : unpolledSince(row)
})

/** The facts as aggregates of monitors. */
export const columns = (sql: SqlClient.SqlClient, now: Date) => {
  const dueAt = sql`greatest(monitor.next_at, monitor.flood_until)`
  return sql`
    min(${dueAt}) filter (
      where monitor.next_at is not null and ${dueAt} <= ${now}::timestamptz
        and (monitor.busy_until is null or monitor.busy_until <= ${now}::timestamptz)) as due_since,
    max(monitor.last_polled_at) filter (where monitor.next_at is not null) as tried_at,
    max(greatest(monitor.last_ok_at, monitor.started_at)) filter (where monitor.next_at is not null) as known_at,
    coalesce(bool_or(monitor.failures > 0 and monitor.last_poll_error = 'unavailable')
      filter (where monitor.next_at is not null), false) as unavailable`
}

/** The facts of all accounts, by reading every monitor. */
export const facts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const [row] = yield* sql<PollFacts>`select ${columns(sql, now)} from monitor`
  return row ?? (yield* Effect.die(new Error("An aggregate without a row")))
})
