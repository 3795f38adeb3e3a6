/** The schema: its tables and the migrations after them, created once each, in order, by one process at a time. */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import * as Tables from "./Schema.ts"

/** The migrations by name, `0001_create_organization` and so on. */
export type Migrations = Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>

const table = "schema_migration"

/** Held by the process that migrates. */
const lock = 5_310_725

/** The database has migrations that this program does not know: a newer program has been here. */
export class SchemaNewer extends Schema.TaggedError<SchemaNewer>()("SchemaNewer", {
  applied: Schema.Int,
  known: Schema.Int
}) {
  override get message(): string {
    return `The database's schema is at ${this.applied}, newer than this program, which knows ${this.known}: ` +
      "run the newer program."
  }
}

/** The database lacks tables or migrations that this program needs. */
export class SchemaOlder extends Schema.TaggedError<SchemaOlder>()("SchemaOlder", {
  /** Null where there are no tables. */
  applied: Schema.NullOr(Schema.Int),
  known: Schema.Int
}) {
  override get message(): string {
    const found = this.applied === null
      ? "The database has no tables yet"
      : `The database's schema is at ${this.applied}, and this program needs ${this.known}`
    return `${found}: start it with --migrate.`
  }
}

/** The tables were made by a version before the first release, and no migration leads from them to those of now. */
export class SchemaUnreleased extends Schema.TaggedError<SchemaUnreleased>()("SchemaUnreleased", {}) {
  override get message(): string {
    return "The database was made by a version before the first release, which this program cannot bring up to date: " +
      "start with a new data directory, or with an empty database."
  }
}

/** The extension is missing, and the connected role may not create it; the message holds what an administrator runs. */
export class ExtensionMissing extends Schema.TaggedError<ExtensionMissing>()("ExtensionMissing", {}) {
  override get message(): string {
    return "The extension pg_trgm is missing, and the database's owner may not create it here. An administrator runs " +
      "once, in this database:\ncreate extension pg_trgm;"
  }
}

/** The simulated messenger has no tables, and the connected role may not create them. */
export class SimulatedTablesMissing extends Schema.TaggedError<SimulatedTablesMissing>()("SimulatedTablesMissing", {}) {
  override get message(): string {
    return "The simulated messenger has no tables in this database, which only the tables' owner may create: run " +
      "`security-console migrate --simulated`."
  }
}

const latestKnown = (migrations: Migrations): number =>
  Math.max(0, ...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

/**
 * Runs the effect in a transaction as the tables' owner: on a server the login role, or the role that it has assumed.
 */
const asOwner = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  SqlClient.SqlClient.use((sql) =>
    sql`
      select set_config('role', case when rolsuper then 'console_owner' else 'none' end, true)
      from pg_roles where rolname = session_user`.pipe(Effect.andThen(effect), sql.withTransaction)
  )

/**
 * The latest migration that the program knows and the latest one in the database, 0 for the tables alone; null where
 * there are none.
 */
export const state = Effect.fnUntraced(function*(migrations: Migrations) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readable: boolean }>`
    select has_table_privilege(oid, 'select') as readable from pg_class where oid = to_regclass(${table})`
  const latest = sql<{ latest: number | null; first: number | null }>`
    select max(migration_id) as latest, min(migration_id) as first from ${sql(table)}`
  const [row] = found === undefined ? [] : yield* (found.readable ? latest : asOwner(latest))
  const { first, latest: applied } = row ?? { first: null, latest: null }
  if (first !== null && first > 0) return yield* new SchemaUnreleased()
  return { known: latestKnown(migrations), applied }
})

const isNewer = (
  current: { readonly applied: number | null; readonly known: number }
): current is { readonly applied: number; readonly known: number } =>
  current.applied !== null && current.applied > current.known

/** Fails unless the database's schema is the one that the program knows. */
export const check = Effect.fnUntraced(function*(migrations: Migrations) {
  const current = yield* state(migrations)
  if (isNewer(current)) return yield* new SchemaNewer(current)
  if (current.applied !== current.known) return yield* new SchemaOlder(current)
})

/** Keeps other processes that migrate waiting until the end of the transaction, which no limit of time ends. */
const alone = SqlClient.SqlClient.use((sql) =>
  sql`select set_config('statement_timeout', '0', true), pg_advisory_xact_lock(${lock})`
)

const extension = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select 1 from pg_extension where extname = 'pg_trgm'`
  if (found !== undefined) return
  yield* Effect.mapError(sql`create extension pg_trgm`.pipe(sql.withTransaction), () => new ExtensionMissing())
})

/** Creates what is missing, and returns the numbers and names. */
const missing = Effect.fnUntraced(function*(migrations: Migrations) {
  yield* alone
  const { applied } = yield* state(migrations)
  const created: ReadonlyArray<readonly [id: number, name: string]> = applied === null ? [[0, "baseline"]] : []
  if (applied === null) yield* Tables.migration.pipe(Effect.andThen(extension), Effect.andThen(Tables.tables))
  const ran = yield* Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })
  return [...created, ...ran]
})

/**
 * Creates the tables and runs the migrations that are missing, in one transaction, and returns their numbers and names.
 *
 * Of two processes that migrate at the same time, one waits for the other and finds nothing left to do.
 */
export const run = Effect.fnUntraced(function*(
  migrations: Migrations
): Effect.fn.Return<
  ReadonlyArray<readonly [id: number, name: string]>,
  SchemaNewer | SchemaUnreleased | ExtensionMissing | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> {
  const current = yield* state(migrations)
  if (isNewer(current)) return yield* new SchemaNewer(current)
  if (current.applied === current.known) return []
  const sql = yield* SqlClient.SqlClient
  // The embedded database has one session, which is the service's.
  const [session] = yield* sql<{ embedded: boolean }>`
    select rolsuper and current_user = 'console_service' as embedded from pg_roles where rolname = session_user`
  return yield* (session?.embedded === true ? asOwner(missing(migrations)) : sql.withTransaction(missing(migrations)))
})

const isRefused = (error: unknown): boolean => SqlError.isSqlError(error) && error.reason._tag === "AuthorizationError"

/**
 * Creates the tables of the simulated messenger where there are none, and returns whether it did. They are not part of
 * the migrations: only a database with a simulated messenger has them.
 */
export const simulate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const absent = Effect.map(
    sql<{ absent: boolean }>`select to_regclass('simulated_platform') is null as absent`,
    ([row]) => row?.absent === true
  )
  if (!(yield* absent)) return false
  const create = Effect.gen(function*() {
    yield* alone
    if (!(yield* absent)) return false
    yield* Tables.simulated
    return true
  })
  return yield* Effect.catchIf(asOwner(create), isRefused, () => Effect.fail(new SimulatedTablesMissing()))
})
