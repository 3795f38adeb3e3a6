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

/** The latest migration that the program knows and the latest one in the database, 0 for none. */
export const state = Effect.fnUntraced(function*(migrations: Migrations) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`select 1 where to_regclass(${table}) is not null`
  const rows = found.length === 0
    ? []
    : yield* sql<{ latest: number }>`select coalesce(max(migration_id), 0) as latest from ${sql(table)}`
  return { known: latestKnown(migrations), applied: rows[0]?.latest ?? 0 }
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
  const sql = yield* SqlClient.SqlClient
  const patiently = sql`select set_config('statement_timeout', '0', true)`
  return yield* Migrator.make({})({
    table,
    loader: Migrator.fromRecord(Object.fromEntries(
      Object.entries(migrations).map(([name, migration]) => [name, Effect.asVoid(Effect.andThen(patiently, migration))])
    ))
  })
})
