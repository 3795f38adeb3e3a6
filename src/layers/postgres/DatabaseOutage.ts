/** True if the database answers: logged when that changes, not at every request that notices. */
import { Clock, Context, Effect, Metric } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

interface State {
  away: boolean
  /** The time it was last logged, on the monotonic clock; undefined for a database that has always answered. */
  loggedAt: bigint | undefined
}

const states = new WeakMap<SqlClient.SqlClient, State>()

const stateOf = (sql: SqlClient.SqlClient): State => {
  const known = states.get(sql)
  if (known !== undefined) return known
  const state: State = { away: false, loggedAt: undefined }
  states.set(sql, state)
  return state
}

const awayMetric = Metric.gauge("console_database_away", {
  description: "1 while the database does not answer, else 0"
})

const failures = Metric.counter("console_database_failures_total", {
  description: "Transactions and statements that the database did not answer",
  incremental: true
})

/** Nanoseconds between two lines of the log: a database that comes and goes fills no log. */
const interval = 5_000_000_000n

/** The server's or the socket's own message, in one line. */
export const reasonOf = ({ reason }: SqlError.SqlError): string =>
  reason.cause instanceof Error ? reason.cause.message : reason.message ?? reason._tag

/** Records that the database did not answer, and why. */
export const lost = (sql: SqlClient.SqlClient, reason: string): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    const state = stateOf(sql)
    const now = Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe()
    failures.updateUnsafe(1, context)
    if (state.away || (state.loggedAt !== undefined && now - state.loggedAt < interval)) return Effect.void
    state.away = true
    state.loggedAt = now
    awayMetric.updateUnsafe(1, context)
    return Effect.logWarning(`The database is away: ${reason}`)
  })

/** True if the database did not answer when it was last asked. */
export const isAway = (sql: SqlClient.SqlClient): boolean => stateOf(sql).away

/** Records that the database has answered; nothing changes if it was available. */
export const answered = (sql: SqlClient.SqlClient): Effect.Effect<void> => {
  const state = stateOf(sql)
  return state.away
    ? Effect.withFiber(({ context }) => {
      state.away = false
      state.loggedAt = Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe()
      awayMetric.updateUnsafe(0, context)
      return Effect.logInfo("The database is back")
    })
    : Effect.void
}
