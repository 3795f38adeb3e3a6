/** Starts the run's PostgreSQL, with a migrated template on both databases, and names their versions. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as childProcess from "node:child_process"
import * as path from "node:path"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import { scratch } from "../run/scratch.ts"
import { createConsole, migrate, postgresLayer } from "./databaseRoles.ts"
import { type Cluster, DatabaseServer } from "./databaseServer.ts"
import * as Kept from "./keptDatabases.ts"
import * as Pristine from "./pristine.ts"

const execFile = promisify(childProcess.execFile)

declare module "vitest" {
  export interface ProvidedContext {
    /** What the workers need to reach the run's databases. */
    readonly databases: {
      /** The superuser's address of the run's server, which makes and drops databases. */
      readonly adminUrl: string
      /** The service's address of the migrated template. */
      readonly templateUrl: string
      /** The directory of the migrated PGlite. */
      readonly directory: string
      /** The files of a PostgreSQL with the roles and the template. */
      readonly cluster: Cluster
      /** What the migrations leave in each of the two. */
      readonly pristine: { readonly pglite: Pristine.Pristine; readonly postgres: Pristine.Pristine }
    }
  }
}

const version = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ version: string }>`select version() as version`
  return row?.version ?? ""
})

const described = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const ask: Pristine.Ask = (statement) => runPromise(sql.unsafe<{ answer: string | null }>(statement))
  return { name: yield* version, pristine: yield* Effect.promise(() => Pristine.read(ask)) }
})

/** Makes a migrated PGlite in the directory, by a process of its own: it would block this one for seconds. */
const makePglite = async (directory: string): Promise<Kept.Described> => {
  const file = path.join(import.meta.dirname, "databasePglite.ts")
  // Better code would take longer to make than it saves.
  const { stdout } = await execFile(process.execPath, ["--liftoff-only", file, directory])
  return JSON.parse(stdout)
}

/** What the run's server need not do: tests of a server's end and of its passwords start one of their own. */
const settings = { autovacuum: "off", synchronous_commit: "off", wal_level: "minimal", max_wal_senders: "0" }

const makePostgres = async (cluster: string): Promise<Omit<Kept.Made, "pglite">> => {
  const server = await DatabaseServer.start({ settings, folder: scratch })
  try {
    const templateUrl = await createConsole(server, "console_template")
    const postgres = await Effect.runPromise(
      Effect.andThen(migrate(templateUrl), Effect.provide(described, postgresLayer(server.url("console_template"))))
    )
    await server.stop()
    await server.backUp(cluster)
    return { password: server.password, postgres }
  } finally {
    await server.remove()
  }
}

/** Makes the files of both databases in the folder. */
const make = async (folder: string): Promise<Kept.Made> => {
  const { cluster, directory } = Kept.within(folder)
  const [made, pglite] = await Promise.all([makePostgres(cluster), makePglite(directory)])
  return { ...made, pglite }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { folder, made } = await Kept.findOrMake(make)
  const { password, pglite, postgres } = made
  if (!postgres.name.startsWith("PostgreSQL 15.")) throw new Error(`Not 15: ${postgres.name}`)
  const { cluster, directory } = Kept.within(folder)
  const server = await DatabaseServer.start({
    settings,
    from: { data: cluster, password },
    folder: scratch,
    trusting: true
  })
  process.stdout.write(`\nDatabases of this run:\n  ${postgres.name}\n  ${pglite.name}\n`)
  project.provide("databases", {
    adminUrl: server.url(),
    templateUrl: server.url("console_template", "console"),
    directory,
    cluster: { data: cluster, password },
    pristine: { pglite: pglite.pristine, postgres: postgres.pristine }
  })
  return () => server.remove()
}
