/** Starts the run's PostgreSQL, migrates a template on both databases, and names their versions. */
import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import * as Migrate from "../../src/layers/sql/Migrate.ts"
import { migrations } from "../../src/layers/sql/migrations/index.ts"
import * as Pglite from "../../src/layers/sql/Pglite.ts"
import { createConsole, migrate, postgresLayer } from "./databaseRoles.ts"
import { DatabaseServer } from "./databaseServer.ts"

const execFile = promisify(childProcess.execFile)

declare module "vitest" {
  export interface ProvidedContext {
    /** What the workers need to reach the run's databases. */
    readonly databases: {
      /** The superuser's address of the run's server, which makes and drops databases. */
      readonly adminUrl: string
      /** The service's address of the migrated template. */
      readonly templateUrl: string
      /** The file that holds the migrated PGlite's dump. */
      readonly dump: string
      /** The same as the directory that an embedded service finds its database in. */
      readonly directory: string
    }
  }
}

const version = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ version: string }>`select version() as version`
  return row?.version
})

const migrated = Effect.andThen(Migrate.run(migrations), version)

const dumpPglite = async (file: string) => {
  const database = await PGlite.create({ extensions: Pglite.extensions })
  const name = await Effect.runPromise(
    Effect.tap(migrated, () =>
      Effect.promise(async () => {
        await database.exec("reset role; checkpoint")
        const dump = await database.dumpDataDir("none")
        fs.writeFileSync(file, new Uint8Array(await dump.arrayBuffer()))
      })).pipe(Effect.provide(Pglite.layerFrom(() => Promise.resolve(database))))
  )
  return name
}

/** Unpacks the dump where a service can copy it from. */
const unpack = async (dump: string, directory: string) => {
  fs.mkdirSync(directory, { mode: 0o700 })
  await execFile("tar", ["-xf", dump, "-C", directory])
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await DatabaseServer.start()
  const teardown = () => server.remove()
  try {
    const templateUrl = await createConsole(server, "console_template")
    const dump = path.join(server.home, "pglite.tar")
    // One after the other: PGlite blocks this thread for longer than PostgreSQL waits within a transaction.
    const postgres = await Effect.runPromise(
      Effect.andThen(migrate(templateUrl), Effect.provide(version, postgresLayer(templateUrl)))
    )
    const pglite = await dumpPglite(dump)
    const directory = path.join(server.home, "database")
    await unpack(dump, directory)
    if (postgres === undefined || !postgres.startsWith("PostgreSQL 15.")) throw new Error(`Not 15: ${postgres}`)
    process.stdout.write(`\nDatabases of this run:\n  ${postgres}\n  ${pglite}\n`)
    project.provide("databases", { adminUrl: server.url(), templateUrl, dump, directory })
    return teardown
  } catch (cause) {
    await teardown()
    throw cause
  }
}
