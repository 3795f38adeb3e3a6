/** How much of a client's connections is in use: counted as they are lent, read when somebody asks. */
import { Effect, Exit, Metric } from "effect"
import type { SqlConnection } from "effect/sql"

/** The ways to a connection. */
interface Lenders {
  readonly acquirer: SqlConnection.Acquirer
  readonly borrower: SqlConnection.Borrower
  readonly transactionAcquirer: SqlConnection.Acquirer
}

const gauges = {
  inUse: Metric.gauge("console_database_in_use", {
    description: "Transactions and statements that hold a connection"
  }),
  waiting: Metric.gauge("console_database_waiting", {
    description: "Transactions and statements that wait for a connection"
  }),
  most: Metric.gauge("console_database_connections_max", { description: "Connections at most" })
}

/** Registers the gauges of one client for as long as its scope is open, and answers what counts its lending. */
export const make = Effect.fnUntraced(function*(maxConnections: number) {
  let inUse = 0
  let waiting = 0
  const context = yield* Effect.context<never>()
  const shown = [
    [gauges.inUse, () => inUse] as const,
    [gauges.waiting, () => waiting] as const,
    [gauges.most, () => maxConnections] as const
  ]
  for (const [gauge, read] of shown) {
    const ignored = () => {}
    const hooks = { get: () => ({ value: read() }), update: ignored, modify: ignored }
    const registration = Metric.registerUnsafe(gauge, context, hooks)
    yield* Effect.addFinalizer(() => Effect.sync(registration.remove))
  }

  const acquired = (acquirer: SqlConnection.Acquirer): SqlConnection.Acquirer =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
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
