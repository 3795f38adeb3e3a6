/** The one `SqlClient` over a pool of PostgreSQL sessions, whether a server or the embedded database answers them. */
import type { PgConnection } from "@effect/sql-pg"
import { PgClient, PgPool, PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Predicate, Result } from "effect"
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

/** Connections are kept and given up by the host's clock, whatever time the service goes by. */
const onHostClock = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

const lost = (message: string, operation: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation })
  })

/** One session as a connection; the client has no row transforms, so none are applied. */
const makeConnection = (pool: PgPool.PgPool, connection: PgConnection.PgConnection): SqlConnection.Connection => {
  const query = (sql: string, params: ReadonlyArray<unknown>, prepare = true) => {
    const result = connection.query(sql, params, prepare)
    if (!isControl.test(sql)) return result
    return result.pipe(
      Effect.timeoutOrElse({
        duration: controlTimeout,
        orElse: () => Effect.fail(lost(`The database did not answer ${sql}`, sql))
      }),
      Effect.tapError(() => sql.startsWith("COMMIT") ? Effect.void : pool.invalidate(connection)),
      onHostClock
    )
  }
  const rows = (sql: string, params: ReadonlyArray<unknown>, prepare = true) =>
    Effect.map(query(sql, params, prepare), (result) => result.rows)
  return {
    execute: (sql, params) => rows(sql, params),
    executeUnprepared: (sql, params) => rows(sql, params, false),
    executeRaw: (sql, params) => query(sql, params),
    executeValues: (sql, params) => connection.queryValues(sql, params),
    executeValuesUnprepared: (sql, params) => connection.queryValues(sql, params, false),
    executeStream: (sql, params) => connection.stream(sql, params)
  }
}

/** PostgreSQL answers the COMMIT of an aborted transaction with success and the tag `ROLLBACK`. */
const commit = (connection: SqlConnection.Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if (!Predicate.hasProperty(result, "command") || result.command !== "ROLLBACK") return Effect.void
    const message = "COMMIT rolled back an aborted transaction"
    return Effect.fail(
      new SqlError.SqlError({
        reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
      })
    )
  })

/** Makes the client over a pool; `configuration` says how sessions are opened, `driver` what answers them. */
export const make = Effect.fnUntraced(function*(driver: "pg" | "pglite", configuration: PgPool.Config) {
  const pool = yield* onHostClock(PgPool.make({
    ...configuration,
    types,
    startupParameters: { timezone: "UTC", ...configuration.startupParameters }
  }))
  const counted = yield* PoolUsage.make(configuration.maxConnections ?? 10)
  return yield* SqlClient.make({
    driver,
    ...counted({
      acquirer: Effect.map(pool.get, (connection) => makeConnection(pool, connection)),
      borrower: (f) => pool.use((connection) => f(makeConnection(pool, connection))),
      transactionAcquirer: Effect.map(pool.reserve, (connection) => makeConnection(pool, connection))
    }),
    compiler: PgClient.makeCompiler(),
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    commit,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})
