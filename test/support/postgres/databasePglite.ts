/**
 * A process that makes a migrated PGlite in the directory that is its argument, as it stands once it has been closed:
 * nothing is recovered when it is opened. It prints what it has made as JSON.
 */
import { PGlite } from "@electric-sql/pglite"
import { Console, Effect } from "effect"
import * as fs from "node:fs"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../../src/layers/postgres/migrations.ts"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as Pristine from "./pristine.ts"

const [directory = ""] = process.argv.slice(2)

fs.mkdirSync(directory, { mode: 0o700 })
const database = await PGlite.create(directory, {
  extensions: Pglite.extensions,
  // Each copy of the files would take three times as long with PostgreSQL's own 16 MiB.
  initDbStartParams: ["--wal-segsize=1"]
})
await Effect.runPromise(
  Effect.gen(function*() {
    yield* Migrate.run(migrations)
    yield* Migrate.simulate
    const described = yield* Effect.promise(async () => {
      await database.exec("reset role")
      // Nobody makes databases from them, and they are half of the files.
      await database.exec("update pg_database set datistemplate = false where datname <> current_database()")
      for (const name of ["template0", "template1"]) await database.exec(`drop database ${name}`)
      const { rows: [row] } = await database.query<{ version: string }>("select version() as version")
      return { name: row?.version ?? "", pristine: await Pristine.read(Pristine.embedded(database)) }
    })
    yield* Console.log(JSON.stringify(described))
  }).pipe(Effect.provide(Pglite.layerFrom(() => Promise.resolve(database))))
)
