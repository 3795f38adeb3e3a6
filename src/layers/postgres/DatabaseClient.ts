/** The one `SqlClient` over sessions of PostgreSQL, whether a server or the embedded database answers them. */
import { PgClient, PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Context, Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Access, hostClock, Own, SharedLink } from "./DatabaseSessions.ts"
import * as PoolUsage from "./PoolUsage.ts"
import type { Deadline } from "./protocol/Cycle.ts"
import { WireSession } from "./protocol/ServerSession.ts"
import { Shared } from "./protocol/SharedSession.ts"

/** The interval of the search for what is over its time, in milliseconds, while anything is owed. */
const sweepInterval = 250

const onHostClock = Effect.provideService(Clock.Clock, hostClock)

/** The one to call once a deadline is over. */
interface Watch extends Deadline {
  readonly late: () => void
  /** Its index in the list. */
  place: number
}

/** The deadlines that are watched, in no order: a Set would keep what it held before until a full collection. */
class Watches {
  readonly #all: Array<Watch> = []

  add({ at, clock }: Deadline, late: () => void): Watch {
    const watch = { at, clock, late, place: this.#all.length }
    this.#all.push(watch)
    return watch
  }

  /** Answers whether it was still watched. */
  remove(watch: Watch): boolean {
    if (this.#all[watch.place] !== watch) return false
    const last = this.#all.pop()
    if (last !== undefined && last !== watch) {
      this.#all[watch.place] = last
      last.place = watch.place
    }
    return true
  }

  look(): void {
    const over = this.#all.filter(({ at, clock }) => clock.currentTimeMillisUnsafe() >= at)
    for (const watch of over) if (this.remove(watch)) watch.late()
  }
}

const accesses = new WeakMap<SqlClient.SqlClient, Access>()

/** The use of the sessions of a client from `make`. */
export const accessOf = (sql: SqlClient.SqlClient): Access => {
  const access = accesses.get(sql)
  if (access === undefined) throw new Error("A client of another driver")
  return access
}

/** The number of a server's sessions that statements outside transactions share. */
const sharedSessions = (maxConnections: number): number =>
  maxConnections < 4 ? 0 : Math.min(4, Math.floor(maxConnections / 2))

/** A proxy on the way to the server, which lends a session of the server's for each transaction. */
export interface Pooling {
  /** The address of the server itself; none where it cannot be reached. */
  readonly direct: PgPool.Config["url"]
}

/**
 * Makes the client over sessions; `configuration` says how they are opened, `driver` what answers them.
 *
 * A transaction has a session of its own. On a server, other statements share sessions where there are enough: those of
 * requests that come together are written and read together. A statement whose fiber was interrupted is cancelled.
 */
export const make = Effect.fnUntraced(function*(
  driver: "pg" | "pglite",
  configuration: PgPool.Config,
  pooling: Pooling | null = null
) {
  const server = driver === "pg"
  const maxConnections = configuration.maxConnections ?? 10
  const shared = server ? sharedSessions(maxConnections) : 0
  const startupParameters = { timezone: "UTC", ...configuration.startupParameters }
  const options = {
    ...configuration,
    maxConnections: maxConnections - shared,
    startupParameters: pooling === null ? startupParameters : {}
  }
  const listening = pooling === null
    ? options
    : pooling.direct === undefined
    ? undefined
    : { ...options, url: pooling.direct, startupParameters }
  const scope = yield* Effect.scope
  const pool = yield* onHostClock(PgPool.make(options))
  const known = new WeakMap<PgConnection.PgConnection, WireSession>()
  const open = new Set<WireSession>()
  const runFork = Effect.runForkWith(Context.add(yield* Effect.context<never>(), Clock.Clock, hostClock))

  const sessionOf = (connection: PgConnection.PgConnection): WireSession => {
    const session = known.get(connection)
    if (session !== undefined) return session
    // The library cancels by a separate connection, and its pool does not lend the cancelled session again.
    const cancel = (asked: () => void) => runFork(Effect.ensuring(connection.interrupt, Effect.sync(asked)))
    const made = new WireSession(connection, server ? cancel : undefined, pooling === null)
    known.set(connection, made)
    open.add(made)
    made.onLost(() => open.delete(made))
    return made
  }

  /** A session that is not returned clean is not lent again. */
  const giveBack = (connection: PgConnection.PgConnection, session: WireSession): Effect.Effect<void> =>
    Effect.suspend(() =>
      session.isFree ? Effect.void : Effect.flatMap(session.answered, () => {
        if (session.isFree) return Effect.void
        session.destroy()
        return pool.invalidate(connection)
      })
    )

  const borrowed: Effect.Effect<WireSession, SqlError.SqlError, Scope.Scope> = Effect.flatMap(
    pool.get,
    (connection) => {
      const session = sessionOf(connection)
      return session.isLost
        ? Effect.andThen(pool.invalidate(connection), borrowed)
        : Effect.as(PoolUsage.atEnd(giveBack(connection, session)), session)
    }
  )
  const own = onHostClock(borrowed)
  const common = shared === 0
    ? undefined
    : new Shared(shared, onHostClock(Effect.map(PgConnection.make(options), sessionOf)), scope)

  const watches = new Watches()
  const sweeper = setInterval(() => {
    watches.look()
    for (const session of open) if (session.outstanding > 0) session.sweep()
  }, sweepInterval)
  sweeper.unref()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      clearInterval(sweeper)
      // Their deadlines are no longer watched; the library ends the others.
      for (const session of open) if (session.outstanding > 0) session.destroy()
    })
  )

  const counted = yield* PoolUsage.make(maxConnections, () => common?.sessions ?? [])
  const lend = counted.acquired(Effect.map(own, (session) => new Own(session)))
  const access: Access = {
    shares: common !== undefined,
    use: (run, kept) => {
      if (common === undefined) return Effect.scoped(Effect.flatMap(counted.acquired(own), run))
      return counted.admitted(Effect.suspend(() => {
        const slot = kept?.slot?.serves === true ? kept.slot : common.least
        // Before it is opened: those that are asked for meanwhile wait for the same.
        if (kept !== undefined) kept.slot = slot
        return common.use(slot, run)
      }))
    },
    listen: server && listening !== undefined
      ? (channel) => onHostClock(Effect.flatMap(PgConnection.make(listening), (session) => session.listen(channel)))
      : undefined,
    lend,
    watch: (deadline, late) => {
      const watch = watches.add(deadline, late)
      return () => watches.remove(watch)
    }
  }
  const outside = new SharedLink(access, null, () => [], undefined)
  const client = yield* SqlClient.make({
    driver,
    acquirer: lend,
    borrower: (f) => f(outside),
    transactionAcquirer: lend,
    compiler: PgClient.makeCompiler(),
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    commit: (connection) =>
      connection instanceof Own ? connection.commit : Effect.die(new Error("A connection of another client")),
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  accesses.set(client, access)
  return client
})
