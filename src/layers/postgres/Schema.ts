/**
 * The tables as they are before any migration, in files of SQL, one for each area.
 *
 * The files lie next to this module in the sources, in the package and next to the bundled program, where the build
 * copies them. They are read when a database is created, not when one is opened.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"

/** In the order of their references. */
const areas = [
  "organization",
  "people",
  "accounts",
  "archive",
  "sessions",
  "logins",
  "security",
  "credentials",
  "journal",
  "archive-keys",
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

/** The statements that make the roles of the embedded database; its superuser runs them at every start. */
export const roles = (): string => read("roles")

/** Creates the table of migrations, in the transaction of the tables' owner. */
export const migration = run("migration")

/** Creates all other tables but those of the simulated messenger, in the transaction of the tables' owner. */
export const tables = Effect.forEach(areas, run, { discard: true })

/** Creates the tables of the simulated messenger, in the transaction of the tables' owner. */
export const simulated = run("simulated")
