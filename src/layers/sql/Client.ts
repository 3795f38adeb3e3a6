/** The one `SqlClient` over a pool of PostgreSQL sessions, whether a server or the embedded database answers them. */
import type { PgConnection } from "@effect/sql-pg"
import { PgClient, PgPool, PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Fiber, Result } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { SqlConnection } from "effect/sql"
import * as PoolUsage from "./PoolUsage.ts"

const codec = <A>(
  encode: (value: A) => Uint8Array,
  decode: (view: DataView) => Result.Result<A, PgTypes.CodecError>
): PgTypes.Codec<A> => ({
  encode: (value) => {
    try {
      return Result.succeed(encode(value))
    } catch (cause) {
      return Result.fail(new PgTypes.CodecError({ message: String(cause) }))
    }
  },
  decode: (bytes) => decode(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
})

const int8 = codec<number | bigint>(
  (value) => {
    const view = new DataView(new ArrayBuffer(8))
    view.setBigInt64(0, BigInt(value))
    return new Uint8Array(view.buffer)
  },
  (view) => {
    const value = Number(view.getBigInt64(0))
    return Number.isSafeInteger(value)
      ? Result.succeed(value)
      : Result.fail(new PgTypes.CodecError({ message: "int8 outside the safe integers" }))
  }
)

const dayMillis = 86_400_000
const epochDays = 10_957

const date = codec<Date | string>(
  (value) => {
    const view = new DataView(new ArrayBuffer(4))
    view.setInt32(0, Math.floor(new Date(value).getTime() / dayMillis) - epochDays)
    return new Uint8Array(view.buffer)
  },
  (view) => Result.succeed(new Date((view.getInt32(0) + epochDays) * dayMillis))
)

/** The rows' types on both databases: `int8` is a safe integer, `date` is a `Date` at midnight UTC. */
const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.int8, int8, { arrayOid: PgTypes.OID.int8Array })
types.register(PgTypes.OID.date, date, { arrayOid: PgTypes.OID.dateArray })

/** How long BEGIN, COMMIT, ROLLBACK and savepoints may take, since no interruption reaches them. */
const controlTimeout = Duration.seconds(5)
const isControl = /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/

/** What starts a transaction that changes nothing. */
export const beginReadOnly = "BEGIN READ ONLY"

/** Connections are kept and given up by the host's clock, whatever time the service goes by. */
const onHostClock = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

const lost = (message: string, operation: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation })
  })

/** Fails, and gives the session up, when it does not answer in time. */
const inTime =
  (pool: PgPool.PgPool, session: PgConnection.PgConnection, operation: string) =>
  <A>(answer: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
    answer.pipe(
      Effect.timeoutOrElse({
        duration: controlTimeout,
        orElse: () => Effect.fail(lost(`The database did not answer ${operation}`, operation))
      }),
      Effect.tapError(() => operation.startsWith("COMMIT") ? Effect.void : pool.invalidate(session)),
      onHostClock
    )

/**
 * One session as a connection, for one borrower; the client has no row transforms, so none are applied.
 *
 * A BEGIN that the borrower has chosen is sent together with the statement after it, which fails if the BEGIN did. A
 * transaction that changes nothing is not waited for at its end: the session answers its statements in their order.
 */
class Connection implements SqlConnection.Connection {
  readonly #pool: PgPool.PgPool
  readonly #session: PgConnection.PgConnection
  readonly #abandon: Effect.Effect<void> | undefined
  #begun: Effect.Effect<unknown, SqlError.SqlError> | undefined
  #readOnly = false
  #lost: SqlError.SqlError | undefined

  /** `abandon` is what is done about a statement of a server that nobody waits for any more. */
  constructor(pool: PgPool.PgPool, session: PgConnection.PgConnection, abandon: Effect.Effect<void> | undefined) {
    this.#pool = pool
    this.#session = session
    this.#abandon = abandon
  }

  #query(sql: string, params: ReadonlyArray<unknown>, prepare = true) {
    if (this.#lost !== undefined) return Effect.fail(this.#lost)
    const result = this.#session.query(sql, params, prepare)
    const begun = this.#begun
    if (begun === undefined) {
      const abandon = this.#abandon
      if (isControl.test(sql)) return this.#control(sql, result)
      return abandon === undefined ? result : Effect.onInterrupt(result, () => abandon)
    }
    this.#begun = undefined
    return this.#control("BEGIN", Effect.tap(result, begun))
  }

  #control<A>(sql: string, result: Effect.Effect<A, SqlError.SqlError>) {
    return Effect.tapError(inTime(this.#pool, this.#session, sql)(result), (error) =>
      Effect.sync(() => {
        this.#lost = error
      }))
  }

  /** Sends the statement now, and answers how it went; whoever asks the session next waits for both. */
  #send(sql: string) {
    return Effect.map(Effect.forkDetach(this.#session.query(sql), { startImmediately: true }), Fiber.join)
  }

  #rows(sql: string, params: ReadonlyArray<unknown>, prepare = true) {
    return Effect.map(this.#query(sql, params, prepare), (result) => result.rows)
  }

  execute(sql: string, params: ReadonlyArray<unknown>) {
    return this.#readOnly && sql === "ROLLBACK" ? Effect.as(this.#send(sql), []) : this.#rows(sql, params)
  }

  executeUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    if (!sql.startsWith("BEGIN")) return this.#rows(sql, params, false)
    // The embedded database's session must be idle when it is given back.
    this.#readOnly = this.#abandon !== undefined && sql === beginReadOnly
    return Effect.map(this.#send(sql), (begun) => {
      this.#begun = begun
      return []
    })
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#query(sql, params)
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.#session.queryValues(sql, params)
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.#session.queryValues(sql, params, false)
  }

  executeStream(sql: string, params: ReadonlyArray<unknown>) {
    return this.#session.stream(sql, params)
  }

  /** PostgreSQL answers the COMMIT of an aborted transaction with success and the tag `ROLLBACK`. */
  get commit(): Effect.Effect<void, SqlError.SqlError> {
    if (this.#readOnly) return Effect.asVoid(this.#send("COMMIT"))
    return Effect.flatMap(this.#query("COMMIT", []), ({ command }) => {
      if (command !== "ROLLBACK") return Effect.void
      const message = "COMMIT rolled back an aborted transaction"
      return Effect.fail(
        new SqlError.SqlError({
          reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
        })
      )
    })
  }
}

const commit = (connection: SqlConnection.Connection) =>
  connection instanceof Connection ? connection.commit : Effect.die(new Error("A connection of another client"))

/** Asks the session something more, and gives it up unless it answers in time. */
const probe = (pool: PgPool.PgPool, session: PgConnection.PgConnection) =>
  Effect.ignore(inTime(pool, session, "select 1")(session.query("select 1")))

/** How many of a pool's sessions are shared by statements outside transactions. */
const sharedSessions = (maxConnections: number): number => maxConnections < 4 ? 0 : 2

/**
 * Makes the client over a pool; `configuration` says how sessions are opened, `driver` what answers them.
 *
 * A transaction has a session of its own. On a server, statements outside transactions share sessions where there are
 * enough: those of requests that come together are written and read together. A statement that nobody waits for any
 * more is cancelled in a transaction; on a shared session it goes on to its end.
 */
export const make = Effect.fnUntraced(function*(driver: "pg" | "pglite", configuration: PgPool.Config) {
  const server = driver === "pg"
  const maxConnections = configuration.maxConnections ?? 10
  const shared = server ? sharedSessions(maxConnections) : 0
  const open = (sessions: Partial<PgPool.Config>) =>
    onHostClock(PgPool.make({
      ...configuration,
      multiplex: server,
      multiplexConcurrency: 1,
      types,
      startupParameters: { timezone: "UTC", ...configuration.startupParameters },
      ...sessions
    }))
  const own = yield* open({ maxConnections: maxConnections - shared })
  const common = shared === 0 ? own : yield* open({ maxConnections: shared, multiplexConcurrency: undefined })
  const cancel = ({ processId }: PgConnection.PgConnection) =>
    Effect.ignore(
      common.use((session) =>
        // The service's role may not cancel, the login role that every session began as may.
        inTime(common, session, "pg_cancel_backend")(
          session.query("select set_config('role', 'none', true), pg_cancel_backend($1)", [processId])
        )
      )
    )
  const acquirer = Effect.map(
    server ? own.get : own.reserve,
    (session) => new Connection(own, session, server ? cancel(session) : undefined)
  )
  const counted = yield* PoolUsage.make(maxConnections)
  return yield* SqlClient.make({
    driver,
    ...counted({
      acquirer,
      borrower: (f) =>
        common.use((session) => {
          const abandon = server
            ? Effect.asVoid(Effect.forkDetach(probe(common, session), { startImmediately: true }))
            : undefined
          return f(new Connection(common, session, abandon))
        }),
      transactionAcquirer: acquirer
    }),
    compiler: PgClient.makeCompiler(),
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    commit,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})
