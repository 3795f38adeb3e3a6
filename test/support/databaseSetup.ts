/** Starts the run's PostgreSQL, migrates a template on both databases, and names their versions. */
import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import type { TestProject } from "vitest/node"
import * as Migrate from "../../src/layers/sql/Migrate.ts"
import { migrations } from "../../src/layers/sql/migrations/index.ts"
import * as Pglite from "../../src/layers/sql/Pglite.ts"
import { createConsole, migrate, postgresLayer } from "./databaseRoles.ts"
import { DatabaseServer } from "./databaseServer.ts"

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
        const dump = await database.dumpDataDir("none")
        fs.writeFileSync(file, new Uint8Array(await dump.arrayBuffer()))
      })).pipe(Effect.provide(Pglite.layerFrom(() => Promise.resolve(database))))
  )
  return name
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await DatabaseServer.start()
  const teardown = () => server.remove()
  try {
    const templateUrl = await createConsole(server, "console_template")
    const postgres = await Effect.runPromise(
      Effect.andThen(migrate(templateUrl), Effect.provide(version, postgresLayer(templateUrl)))
    )
    const dump = path.join(server.home, "pglite.tar")
    const pglite = await dumpPglite(dump)
    if (postgres === undefined || !postgres.startsWith("PostgreSQL 15.")) throw new Error(`Not 15: ${postgres}`)
    process.stdout.write(`\nDatabases of this run:\n  ${postgres}\n  ${pglite}\n`)
    project.provide("databases", { adminUrl: server.url(), templateUrl, dump })
    return teardown
  } catch (cause) {
    await teardown()
    throw cause
  }
}
