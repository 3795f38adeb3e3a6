import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { inject } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { ask, freshDirectory, run, serve, shownKeys, until } from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import { postgresServer, postgresUrl } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"

const pepper = crypto.randomBytes(32).toString("base64")

/** The settings of a service on the database; nothing goes to the directory. */
const on = (url: string) => ({
  CONSOLE_DATABASE_URL: url,
  CONSOLE_PEPPERS: pepper,
  CONSOLE_CHECKPOINT_KEYS: pepper,
  CONSOLE_CSRF_KEYS: pepper,
  CONSOLE_DATA: path.join(freshDirectory(), "never")
})

const execute = (url: string, statement: string) =>
  Effect.orDie(
    SqlClient.SqlClient.use((sql) => sql.unsafe(statement)).pipe(Effect.provide(postgresLayer(url)))
  )

/** A role and an empty database of its own on the run's server, without what an administrator grants. */
const emptyDatabase = Effect.gen(function*() {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`
  const url = new URL(inject("databases").adminUrl)
  yield* execute(url.href, `create role ${name} login password '${url.password}'`)
  yield* Effect.addFinalizer(() => execute(url.href, `drop role ${name}`))
  yield* execute(url.href, `create database ${name} owner ${name}`)
  yield* Effect.addFinalizer(() => execute(url.href, `drop database ${name} with (force)`))
  const own = new URL(url)
  own.pathname = `/${name}`
  own.username = name
  return { name, url: own.href, admin: url.href }
})

/** What a start says before it has settled anything. */
const starting = `Starting Organization Security Console ${manifest.version} ...\n`

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)

describe("the commands on PostgreSQL", () => {
  it.effect(
    "migrate where an administrator has made the roles, and else say what to run",
    () =>
      Effect.gen(function*() {
        const { admin, name, url } = yield* emptyDatabase
        const refused = yield* promise(() => runInProcess(["migrate"], { env: on(url) }))
        expect([refused.status, refused.stdout]).toEqual([1, ""])
        expect(refused.stderr).toBe(
          `The role ${name} lacks what the service works with. An administrator runs once:\n` +
            `grant console_service to "${name}";\n`
        )
        const statement = /^grant.*;$/m.exec(refused.stderr)?.[0] ?? ""
        yield* execute(admin, statement)
        const early = yield* promise(() => run(["serve", "--port", "0"], { env: on(url) }))
        expect([early.status, early.stdout]).toEqual([1, starting])
        expect(early.stderr).toMatch(
          /The database has no tables yet: start it with --migrate\.\n$/
        )
        expect(yield* promise(() => doneInProcess(["migrate"], { env: on(url) }))).toMatch(
          /^Applied 0 baseline\n/
        )
        expect(yield* promise(() => doneInProcess(["migrate"], { env: on(url) }))).toBe("The schema is up to date.\n")
        yield* execute(url, "insert into schema_migration (migration_id, name) values (9999, 'from_the_future')")
        const late = yield* promise(() => runInProcess(["serve", "--port", "0", "--migrate"], { env: on(url) }))
        expect(late.status).toBe(1)
        expect(late.stderr).toMatch(
          /schema is at 9999, newer than this program, which knows \d+: run the newer program\.\n$/
        )
      }).pipe(Effect.scoped),
    180_000
  )

  it.effect(
    "end with one line where the server refuses the password, the role or the database, or is too old",
    () =>
      Effect.gen(function*() {
        const { admin, name, url } = yield* emptyDatabase
        const other = (change: (url: URL) => void) => {
          const changed = new URL(url)
          change(changed)
          return changed.href
        }
        const refused = [
          [other((each) => each.password = "wrong"), `password authentication failed for user "${name}"`],
          [other((each) => each.username = "nobody"), "password authentication failed for user \"nobody\""],
          [other((each) => each.pathname = "/nowhere"), "database \"nowhere\" does not exist"]
        ] as const
        const endings = yield* promise(() =>
          Promise.all(
            refused.map(([address]) => runInProcess(["serve", "--port", "0", "--demo"], { env: on(address) }))
          )
        )
        expect(endings).toEqual(refused.map(([, reason]) => ({
          status: 1,
          stdout: "",
          stderr: `PostgreSQL refuses the connection: ${reason}. Check --database-url (CONSOLE_DATABASE_URL).\n`
        })))
        yield* execute(
          url,
          "create function current_setting(text) returns text language sql as $$ select '140012'::text $$"
        )
        yield* execute(admin, `alter role ${name} set search_path = public, pg_catalog`)
        const old = yield* promise(() => runInProcess(["migrate", "--json"], { env: on(url) }))
        expect([old.status, old.stdout]).toEqual([1, ""])
        expect(old.stderr).toMatch(/"message":"This is PostgreSQL 14, and 15 or later is needed\."/)
      }).pipe(Effect.scoped),
    120_000
  )

  it.effect("refuse a superuser, and say whom to connect as", () =>
    Effect.gen(function*() {
      const { admin, name } = yield* emptyDatabase
      const url = new URL(admin)
      url.pathname = `/${name}`
      const refused = yield* promise(() => runInProcess(["migrate"], { env: on(url.href) }))
      expect(refused.status).toBe(1)
      expect(refused.stderr).toMatch(/^The role postgres bypasses row level security\./)
    }).pipe(Effect.scoped), 60_000)

  it.effect(
    "work beside a running service, whose demo walks as on the embedded database",
    () =>
      Effect.gen(function*() {
        const { admin, name, url } = yield* emptyDatabase
        yield* execute(admin, `grant console_service to ${name}`)
        const env = on(url)
        yield* promise(async () => {
          const service = await serve(["--demo", "--migrate"], env)
          const [key = ""] = await shownKeys(service)
          const { data: [account] } = (await ask(service.address, key, "GET", "/v1/accounts?status=protected")).body
          const paused = await ask(service.address, key, "POST", `/v1/accounts/${account.id}/pause`)
          expect([paused.status, paused.body.status]).toEqual([200, "paused"])
          const verify = () => doneInProcess(["journal", "verify"], { env })
          const folder = freshDirectory()
          const keys = path.join(folder, "keys.json")
          const published = await ask(service.address, key, "GET", "/.well-known/journal-keys")
          fs.writeFileSync(keys, JSON.stringify(published.body))
          // An auditor has the database's address and the public keys, and none of the service's secrets.
          const { CONSOLE_DATA, CONSOLE_DATABASE_URL } = env
          const audit = () =>
            doneInProcess(["journal", "verify", "--public-key", keys], { env: { CONSOLE_DATA, CONSOLE_DATABASE_URL } })
          // The demo's first looks and backups are journaled meanwhile: compared is what both read of one state.
          let [verified, audited, after] = [await verify(), await audit(), await verify()]
          while (verified !== after) [verified, audited, after] = [after, await audit(), await verify()]
          expect(verified).toMatch(/^demo +\d+ events, unbroken +[0-9a-f]{64}\n\d+ checkpoints, signed by /)
          expect(audited).toBe(verified)
          await doneInProcess(["organizations", "transfer-ownership", "demo", "sam@demo.example"], { env })
          await doneInProcess(["admins", "disable", "demo", "olivia@demo.example"], { env })
          expect((await ask(service.address, key, "GET", "/v1/organization")).status).toBe(401)
          expect(await service.stop()).toBe(0)
          await doneInProcess(["journal", "checkpoint"], { env })
          const pushed = path.join(folder, "checkpoints.ndjson")
          const again = await serve(["--demo", "--roles", "worker", "--checkpoint-push", `file:${pushed}`], env)
          await until(async () => (await fetch(new URL("/readyz", again.address))).ok)
          const answers = await Promise.all(["/readyz", "/healthz", "/v1/organization", "/"].map(async (path) => {
            const answer = await fetch(new URL(path, again.address))
            return [answer.status, await answer.text()]
          }))
          expect(answers).toEqual([
            [200, `{"status":"ok","watch":"active"}`],
            [200, `{"status":"ok"}`],
            [404, ""],
            [404, ""]
          ])
          await until(() => fs.existsSync(pushed) && fs.readFileSync(pushed, "utf8").endsWith("\n"))
          expect(await doneInProcess(["journal", "verify", "--checkpoint", pushed], { env })).toMatch(
            /^demo +\d+ events, unbroken/
          )
          expect(await again.stop()).toBe(0)
          expect(again.stdout()).not.toContain("_live_")
        })
      }).pipe(Effect.scoped),
    180_000
  )

  it.effect("say in one line that no pepper is set, or that nothing answers", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const { CONSOLE_DATA, CONSOLE_DATABASE_URL } = on(url)
      for (const command of [["serve"], ["journal", "verify"]]) {
        const refused = yield* promise(() => run(command, { env: { CONSOLE_DATA, CONSOLE_DATABASE_URL } }))
        expect([refused.status, refused.stdout]).toEqual([1, command[0] === "serve" ? starting : ""])
        expect(refused.stderr).toMatch(/^On PostgreSQL the service needs CONSOLE_PEPPERS: [^\n]*\n$/)
      }
      const nowhere = yield* promise(() =>
        runInProcess(["journal", "verify"], { env: on("postgres://console:secret@127.0.0.1:1/console") })
      )
      expect([nowhere.status, nowhere.stdout]).toEqual([1, ""])
      expect(nowhere.stderr).toBe("The database did not do it: connect ECONNREFUSED 127.0.0.1:1.\n")
    }).pipe(Effect.scoped), 60_000)

  it.effect(
    "start a service while the database is away: it answers 503, recovers by itself, and then makes its demo",
    () =>
      Effect.gen(function*() {
        const { server, url } = yield* postgresServer()
        yield* promise(() => server.stop())
        yield* promise(async () => {
          const service = await serve(["--demo"], on(url))
          const ready = () => fetch(new URL("/readyz", service.address)).then(({ status }) => status)
          expect(await ready()).toBe(503)
          const answer = await ask(service.address, "osc_live_x", "GET", "/v1/organization")
          expect([answer.status, answer.body.error.code]).toEqual([503, "service_unavailable"])
          expect(answer.headers.get("retry-after")).toMatch(/^\d+$/)
          expect((await fetch(new URL("/healthz", service.address))).status).toBe(200)
          await server.start()
          await until(async () => await ready() === 200)
          expect((await ask(service.address, "osc_live_x", "GET", "/v1/organization")).status).toBe(401)
          const [key = ""] = await shownKeys(service)
          expect((await ask(service.address, key, "GET", "/v1/organization")).body.id).toBe("demo")
          expect(await service.stop()).toBe(0)
          expect(service.stderr().match(/The database is (?:away|back)/g)).toEqual([
            "The database is away",
            "The database is back"
          ])
        })
      }).pipe(Effect.scoped),
    180_000
  )
})
