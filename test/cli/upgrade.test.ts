import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as path from "node:path"
import * as Environment from "../../src/cli/process/Environment.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Postgres from "../../src/layers/postgres/Postgres.ts"
import * as Roles from "../../src/layers/postgres/Roles.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import * as Migrate from "../../src/layers/sql/Migrate.ts"
import { migrations } from "../../src/layers/sql/migrations/index.ts"
import { read } from "../repository/repository.ts"
import { freshDirectory, serve } from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import * as Fixtures from "../support/fixtures.ts"
import { createConsole, ownerUrl, postgresLayer } from "../support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../support/postgres/databaseServer.ts"
import * as World from "../support/world.ts"
import { at, filed, free, key, organizationId, signedIn, token, written } from "./earlier.ts"

/** The blocks of SQL in the document's section on databases of earlier versions, in their order. */
const documented = () => {
  const [, section = ""] = /^## PostgreSQL of earlier versions\n([^]*?)^## /m.exec(read("docs/operations.md")) ?? []
  return [...section.matchAll(/^```sql\n([^]*?)^```/gm)].map(([, block = ""]) =>
    block.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  )
}

const upTo = (last: string) => Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last))

/** What `serve` would warn of, and what `status` says of the owner. */
const looked = Effect.gen(function*() {
  const warned: Array<string> = []
  const logger = Logger.make(({ message }) => void warned.push(String(message)))
  yield* Effect.provide(Environment.warnOwner, Logger.layer([logger]))
  const { owns_tables, schema } = yield* DatabaseFacts.facts
  return { warned, owns_tables, upToDate: schema.applied === schema.known }
})

/** The service works as it did: credentials, journal, search, lists by status, writes. */
const works = (events: number) =>
  Effect.gen(function*() {
    const verified = yield* Fixtures.within(organizationId, verify(organizationId))
    expect(verified).toMatchObject({ ok: true, sequence: events })
    expect((yield* World.get("/v1/organization", key)).body).toMatchObject({ id: organizationId })
    const page = (path: string, secret: Redacted.Redacted) =>
      Effect.map(World.get(path, secret), ({ body }) => body.data.map(({ id }: { readonly id: string }) => id))
    expect(yield* page("/v1/accounts", token)).toEqual([filed])
    expect(yield* page("/v1/accounts?status=new_sign_in", key)).toEqual([free])
    expect(yield* page("/v1/account-search?query=zo", key)).toEqual([free])
    expect((yield* World.post(`/v1/accounts/${filed}/pause`, key)).status).toBe(200)
    expect((yield* World.post(`/v1/accounts/${filed}/resume`, key)).status).toBe(200)
    const after = yield* Fixtures.within(organizationId, verify(organizationId))
    expect(after).toMatchObject({ ok: true, sequence: events + 2 })
  })

describe("a database of an earlier version", () => {
  it.effect(
    "comes over with its journal, keys and connections, served by the tables' owner and then by a role that owns nothing",
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

        // As the documents of that version had it made.
        yield* run(server.url(), [
          "create role console_app nologin",
          `create role console login password '${server.password}' in role console_app`,
          "create database console owner console"
        ])
        yield* Effect.provide(Migrate.run(upTo("0005~")), Layer.fresh(asLogin))
        yield* Effect.provide(
          SqlClient.SqlClient.use((sql) =>
            sql.withTransaction(written)
          ),
          Layer.fresh(asLogin)
        )

        const [before = [], separation = [], ...others] = documented()
        expect(others).toEqual([])
        yield* run(server.url("console"), before)
        yield* Effect.provide(
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            yield* Roles.ensure({ alone: true })
            yield* Migrate.run(upTo("0036~"))
            yield* sql.withTransaction(signedIn)
            yield* Migrate.run(migrations)
          }),
          Layer.fresh(asLogin)
        )
        expect(
          yield* as(server.url("console"))(
            SqlClient.SqlClient.use((sql) => sql`select known_since, long_known from known_browser, console_session`)
          )
        ).toEqual([{ known_since: at(5), long_known: false }])
        yield* TestClock.setTime(at(100).getTime())
        yield* serving(works(4))
        const owned = yield* serving(looked)
        expect(owned).toMatchObject({ owns_tables: true, upToDate: true })
        expect(owned.warned).toEqual([expect.stringContaining("The service's login role console owns the tables")])
        const statements = separation.map((line) => line.replace("'choose another'", "'...'"))
        expect(owned.warned[0]?.replaceAll("\"", "")).toContain(statements.join(" "))

        yield* run(server.url("console"), separation.map((line) => line.replace("choose another", server.password)))
        yield* serving(works(6))
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

describe("the migration URL", () => {
  it.effect(
    "names the role that brings the schema up to date, for migrate and for serve, which then warns of nothing",
    () =>
      Effect.gen(function*() {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => DatabaseServer.start()),
          (server) => Effect.promise(() => server.remove())
        )
        const url = yield* Effect.promise(() => createConsole(server, "console"))
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
