/** A client's connections in use: counted when they are lent, read by the metrics. */
import { Effect, Exit, Schema, Scope } from "effect"
import { SqlError } from "effect/sql"
import * as Gauge from "../Gauge.ts"

/** The number of transactions and statements that may wait for a connection; more are refused immediately. */
export const maxWaiting = 512

/** The queue for connections is full: the database answers, only not this one now. */
export class QueueFull extends Schema.TaggedError<QueueFull>()("QueueFull", {}) {
  override get message(): string {
    return `${maxWaiting} transactions and statements wait for a connection already`
  }
}

const refused = Effect.suspend(() => {
  const cause = new QueueFull({})
  return Effect.fail(
    new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "acquireConnection" })
    })
  )
})

/** Adds what needs nothing to the scope's end: without the services of where it is added, which would be copied. */
export const atEnd = (finalizer: Effect.Effect<unknown>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, finalizer))

/** The debt of a shared session. */
interface SessionDebt {
  readonly outstanding: number
}

/**
 * Registers the gauges of one client for as long as its scope is open, and answers what counts its lending.
 *
 * A shared session works on one of its statements; the rest waits.
 */
export const make = Effect.fnUntraced(function*(maxConnections: number, shared: () => ReadonlyArray<SessionDebt>) {
  let inUse = 0
  let waiting = 0
  let asked = 0
  const busy = () => shared().filter(({ outstanding }) => outstanding > 0).length
  yield* Gauge.show(
    "console_database_in_use",
    "Transactions and statements that hold a connection",
    () => inUse + busy()
  )
  yield* Gauge.show(
    "console_database_waiting",
    "Transactions and statements that wait for a connection",
    () => waiting + asked - Math.min(asked, busy())
  )
  yield* Gauge.show("console_database_connections_max", "Connections at most", () => maxConnections)

  return {
    /** Counts a connection from when it is waited for until it is given back. */
    acquired: <A>(acquirer: Effect.Effect<A, SqlError.SqlError, Scope.Scope>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          if (waiting >= maxWaiting) return refused
          waiting += 1
          return Effect.onExit(restore(acquirer), (exit) => {
            waiting -= 1
            if (Exit.isFailure(exit)) return Effect.void
            inUse += 1
            return atEnd(Effect.sync(() => inUse -= 1))
          })
        })
      ),

    /** Counts a statement on a shared session. */
    admitted: <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
      Effect.suspend(() => {
        if (asked >= maxWaiting) return refused
        asked += 1
        return Effect.onExit(statement, () => {
          asked -= 1
          return Effect.void
        })
      })
  }
})
