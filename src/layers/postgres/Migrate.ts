/** The schema's migrations, run once each, in order, by one process at a time. */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"

/** The migrations by name, `0001_create_organization` and so on. */
export type Migrations = Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>

const table = "schema_migration"

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

/** The database lacks migrations that this program needs. */
export class SchemaOlder extends Schema.TaggedError<SchemaOlder>()("SchemaOlder", {
  applied: Schema.Int,
  known: Schema.Int
}) {
  override get message(): string {
    return `The database's schema is at ${this.applied}, and this program needs ${this.known}: start it with --migrate.`
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

/** The migration from which on the service's role reads what it needs; before it, the tables' owner did. */
const separated = 12

/** Runs statements outside any organization on a database that has been brought up to this migration, no further. */
export const asOf = (applied: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  applied < separated ? asOwner(effect) : effect

/** The latest migration that the program knows and the latest one in the database, 0 for none. */
export const state = Effect.fnUntraced(function*(migrations: Migrations) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readable: boolean }>`
    select has_table_privilege(oid, 'select') as readable from pg_class where oid = to_regclass(${table})`
  const latest = sql<{ latest: number }>`select coalesce(max(migration_id), 0) as latest from ${sql(table)}`
  const [row] = found === undefined ? [] : yield* (found.readable ? latest : asOwner(latest))
  return { known: latestKnown(migrations), applied: row?.latest ?? 0 }
})

/** Fails unless the database's schema is the one that the program knows. */
export const check = Effect.fnUntraced(function*(migrations: Migrations) {
  const current = yield* state(migrations)
  if (current.applied > current.known) return yield* new SchemaNewer(current)
  if (current.applied < current.known) return yield* new SchemaOlder(current)
})

/**
 * Runs the migrations that are missing, in one transaction, and answers their numbers and names.
 *
 * Of two processes that migrate at once, one waits for the other and finds nothing left to do.
 */
export const run = Effect.fnUntraced(function*(
  migrations: Migrations
): Effect.fn.Return<
  ReadonlyArray<readonly [id: number, name: string]>,
  SchemaNewer | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> {
  const current = yield* state(migrations)
  if (current.applied > current.known) return yield* new SchemaNewer(current)
  if (current.applied === current.known) return []
  const sql = yield* SqlClient.SqlClient
  // The embedded database has one session, which is the service's.
  const [session] = yield* sql<{ embedded: boolean }>`
    select rolsuper and current_user = 'console_service' as embedded from pg_roles where rolname = session_user`
  const withoutLimit = sql`select set_config('statement_timeout', '0', true)`
  const migrate = Migrator.make({})({
    table,
    loader: Migrator.fromRecord(Object.fromEntries(
      Object.entries(migrations).map((
        [name, migration]
      ) => [name, Effect.asVoid(Effect.andThen(withoutLimit, migration))])
    ))
  })
  return yield* (session?.embedded === true ? asOwner(migrate) : migrate)
})
