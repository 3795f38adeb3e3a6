/**
 * The tables as they are before any migration, in files of SQL, one for each area.
 *
 * The files lie next to this module in the sources, in the package and next to the bundled program, where the build
 * copies them. They are read when a database is created, not when one is opened.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"

/** In the order of their references. */
const areas = [
  "migration",
  "organization",
  "people",
  "accounts",
  "sessions",
  "logins",
  "security",
  "credentials",
  "journal",
  "signin",
  "oauth",
  "protection",
  "mail",
  "functions"
]

const read = (name: string): string => fs.readFileSync(new URL(`./schema/${name}.sql`, import.meta.url), "utf8")

/** Runs a file; PostgreSQL itself finds its statements, which the extended protocol would take only one by one. */
const run = (name: string) =>
  SqlClient.SqlClient.use((sql) => sql.unsafe(`do $schema$ begin execute $file$${read(name)}$file$; end $schema$`))

/** The extension is missing, and the connected role may not create it; the message holds what an administrator runs. */
class ExtensionMissing extends Schema.TaggedError<ExtensionMissing>()("ExtensionMissing", {}) {
  override get message(): string {
    return "The extension pg_trgm is missing, and the database's owner may not create it here. An administrator runs " +
      "once, in this database:\ncreate extension pg_trgm;"
  }
}

const extension = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select 1 from pg_extension where extname = 'pg_trgm'`
  if (found !== undefined) return
  yield* Effect.mapError(sql`create extension pg_trgm`.pipe(sql.withTransaction), () => new ExtensionMissing())
})

/** Creates the roles of the embedded database; its superuser runs it at every start. */
export const roles = (): string => read("roles")

/** Creates all tables but those of the simulated messenger, in the transaction of the tables' owner. */
export const baseline = Effect.andThen(extension, Effect.forEach(areas, run, { discard: true }))

/** Creates the tables of the simulated messenger, in the transaction of the tables' owner. */
export const simulated = run("simulated")
