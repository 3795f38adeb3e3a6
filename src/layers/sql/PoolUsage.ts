/** How much of a client's connections is in use: counted as they are lent, read when somebody asks. */
import { Effect, Exit, Schema } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import * as Gauge from "../Gauge.ts"

/** How many transactions and statements may wait for a connection; whatever comes then is refused at once. */
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

/** The ways to a connection. */
interface Lenders {
  readonly acquirer: SqlConnection.Acquirer
  readonly borrower: SqlConnection.Borrower
  readonly transactionAcquirer: SqlConnection.Acquirer
}

/** Registers the gauges of one client for as long as its scope is open, and answers what counts its lending. */
export const make = Effect.fnUntraced(function*(maxConnections: number) {
  let inUse = 0
  let waiting = 0
  yield* Gauge.show("console_database_in_use", "Transactions and statements that hold a connection", () => inUse)
  yield* Gauge.show(
    "console_database_waiting",
    "Transactions and statements that wait for a connection",
    () => waiting
  )
  yield* Gauge.show("console_database_connections_max", "Connections at most", () => maxConnections)

  const acquired = (acquirer: SqlConnection.Acquirer): SqlConnection.Acquirer =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (waiting >= maxWaiting) return refused
        waiting += 1
        return Effect.onExit(restore(acquirer), (exit) => {
          waiting -= 1
          if (Exit.isFailure(exit)) return Effect.void
          inUse += 1
          return Effect.addFinalizer(() => Effect.sync(() => inUse -= 1))
        })
      })
    )

  const borrowed = (borrower: SqlConnection.Borrower): SqlConnection.Borrower => (f) =>
    Effect.suspend(() => {
      if (waiting >= maxWaiting) return refused
      let lent = false
      waiting += 1
      return Effect.onExit(
        borrower((connection) => {
          lent = true
          waiting -= 1
          inUse += 1
          return f(connection)
        }),
        () => {
          if (lent) inUse -= 1
          else waiting -= 1
          return Effect.void
        }
      )
    })

  return ({ acquirer, borrower, transactionAcquirer }: Lenders): Lenders => ({
    acquirer: acquired(acquirer),
    borrower: borrowed(borrower),
    transactionAcquirer: acquired(transactionAcquirer)
  })
})
