import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as path from "node:path"
import * as Environment from "../../src/cli/process/Environment.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Migrate from "../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../src/layers/postgres/migrations.ts"
import * as Pglite from "../../src/layers/postgres/Pglite.ts"
import * as Postgres from "../../src/layers/postgres/Postgres.ts"
import * as Roles from "../../src/layers/postgres/Roles.ts"
import { read, root } from "../repository/repository.ts"
import { dataDirectory, freshDirectory, serve } from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import { asOwner, emptyUrl } from "../support/postgres/database.ts"
import { ownerUrl, postgresLayer } from "../support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../support/postgres/databaseServer.ts"
import * as World from "../support/world.ts"

/** The block of SQL in the document's section on a service that owns its tables. */
const documented = () => {
  const [, section = ""] = /^## A service that owns its tables\n([^]*?)^## /m.exec(read("docs/operations.md")) ?? []
  const [, block = ""] = /^```sql\n([^]*?)^```/m.exec(section) ?? []
  return block.split("\n").map((line) => line.trim()).filter((line) => line !== "")
}

/** What `serve` would warn of, and what `status` says of the owner. */
const looked = Effect.gen(function*() {
  const warned: Array<string> = []
  const logger = Logger.make(({ message }) => void warned.push(String(message)))
  yield* Effect.provide(Environment.warnOwner, Logger.layer([logger]))
  const { owns_tables, schema } = yield* DatabaseFacts.facts
  return { warned, owns_tables, upToDate: schema.applied === schema.known }
})

/** Makes an organization, and reads and changes it through the service. */
const works = Effect.gen(function*() {
  const { admins: { owner }, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  expect((yield* World.get("/v1/organization", owner.key)).body).toMatchObject({ id })
  expect((yield* World.post(`/v1/accounts/${account}/pause`, owner.key)).status).toBe(200)
})

describe("a service whose login role owns the tables", () => {
  it.effect(
    "works, warns, and is separated from them by the documented statements",
    () =>
      Effect.gen(function*() {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => DatabaseServer.start()),
          (server) => Effect.promise(() => server.remove())
        )
        const url = server.url("console", "console")
        const as = (address: string) => <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          Effect.orDie(Effect.provide(effect, Layer.fresh(postgresLayer(address))))
        const run = (address: string, statements: ReadonlyArray<string>) =>
          as(address)(SqlClient.SqlClient.use((sql) =>
            Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
          ))
        const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provide(effect, Layer.fresh(World.world(postgresLayer(url))))
        const asLogin = Postgres.layer({ url: Redacted.make(url) })

        yield* run(server.url(), [
          "create role console_app nologin",
          "create role console_service nologin noinherit in role console_app",
          `create role console login password '${server.password}' in role console_service`,
          "create database console owner console"
        ])
        yield* Effect.provide(
          Effect.andThen(Roles.ensure({ alone: true }), Migrate.run(migrations)),
          Layer.fresh(asLogin)
        )
        yield* serving(works)
        const owned = yield* serving(looked)
        expect(owned).toMatchObject({ owns_tables: true, upToDate: true })
        expect(owned.warned).toEqual([expect.stringContaining("The service's login role console owns the tables")])
        const separation = documented()
        const statements = separation.map((line) =>
          line.replace("'choose another'", "'...'")
        )
        expect(owned.warned[0]?.replaceAll("\"", "")).toContain(statements.join(" "))

        yield* run(server.url("console"), separation.map((line) => line.replace("choose another", server.password)))
        yield* serving(works)
        expect(yield* serving(looked)).toEqual({ warned: [], owns_tables: false, upToDate: true })
        const rewritten = yield* Effect.exit(
          Effect.provide(
            SqlClient.SqlClient.use((sql) => sql`alter table journal_event disable trigger all`),
            Layer.fresh(asLogin)
          )
        )
        expect(Exit.isFailure(rewritten)).toBe(true)

        // From then on the owner migrates, and the service's login role cannot.
        const later = {
          ...migrations,
          "9000_extend": SqlClient.SqlClient.use((sql) => sql`alter table account add column later text`)
        }
        const refused = yield* Effect.exit(Effect.provide(Migrate.run(later), Layer.fresh(asLogin)))
        expect(Exit.isFailure(refused)).toBe(true)
        expect(yield* as(ownerUrl(url))(Migrate.run(later))).toEqual([[9000, "extend"]])
      }).pipe(Effect.scoped),
    120_000
  )
})

describe("a data directory of a version before the first release", () => {
  it(
    "is refused in one line by every command, but for the one that removes a demo",
    async () => {
      const data = dataDirectory()
      const here = ["--data", data]
      await doneInProcess(["seed", path.join(root, "seeds/demo.json"), ...here])
      const aged = asOwner((sql) => sql`update schema_migration set migration_id = 59`)
      await Effect.runPromise(aged.pipe(Effect.provide(Pglite.layer({ directory: data }))))
      const line = /^The database was made by a version before the first release, [^\n]+\.\n$/
      for (const command of [["serve", "--port", "0"], ["migrate"], ["organizations", "list"]]) {
        const refused = await runInProcess([...command, ...here])
        expect([command, refused.status, refused.stderr]).toEqual([command, 1, expect.stringMatching(line)])
      }
      const status = await runInProcess(["status", ...here])
      expect([status.status, status.stderr]).toEqual([1, expect.stringMatching(/before the first release.+[^.]\.\n$/)])
      expect(await doneInProcess(["demo", "reset", ...here])).toMatch(/^Removed the demo/)
    },
    120_000
  )
})

describe("the migration URL", () => {
  it.effect(
    "names the role that brings the schema up to date, for migrate and for serve, which then warns of nothing",
    () =>
      Effect.gen(function*() {
        const url = yield* emptyUrl
        const env = {
          CONSOLE_DATABASE_URL: url,
          CONSOLE_PEPPERS: World.peppers,
          CONSOLE_CHECKPOINT_KEYS: World.checkpointKeys,
          CONSOLE_CSRF_KEYS: World.csrfKeys,
          CONSOLE_DATA: path.join(freshDirectory(), "never")
        }
        const migrated = { ...env, CONSOLE_MIGRATION_URL: ownerUrl(url) }
        yield* Effect.promise(async () => {
          const refused = await runInProcess(["migrate"], { env })
          expect([refused.status, refused.stdout]).toEqual([1, ""])
          expect(refused.stderr).toContain("permission denied")
          const service = await serve(["--migrate"], migrated)
          expect(service.stderr()).not.toContain("owns the tables")
          expect(await service.stop()).toBe(0)
          expect(await doneInProcess(["migrate"], { env: migrated })).toBe("The schema is up to date.\n")
          const { database } = JSON.parse((await runInProcess(["status", "--json"], { env })).stdout)
          expect(database).toMatchObject({ role: "console", owns_tables: false, jobs: null })
        })
      }).pipe(Effect.scoped),
    180_000
  )
})
