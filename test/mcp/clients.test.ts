import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { postgresUrl } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import * as World from "../support/world.ts"
import * as Processes from "./processes.ts"

/** A database on PostgreSQL, the service's environment there, and a way to look into it. */
const database = Effect.gen(function*() {
  const url = yield* postgresUrl
  const within = yield* replica(url)
  const key = Buffer.alloc(32, 7).toString("base64")
  const env = { CONSOLE_DATABASE_URL: url, CONSOLE_PEPPERS: key, CONSOLE_CHECKPOINT_KEYS: key, CONSOLE_CSRF_KEYS: key }
  const { admins, id } = yield* within(World.makeOrganization())
  return {
    env,
    within,
    id,
    account: yield* within(World.makeAccount(id)),
    /** A fresh key, with a budget of its own. */
    key: within(Effect.map(World.makeKey(id, admins.owner.id), ({ key }) => Redacted.value(key)))
  }
})

type Database = Effect.Success<typeof database>

/** What every client has to be able to do: list, call, get a typed failure, and be told that a tool is unknown. */
const converse = Effect.fnUntraced(function*(client: Processes.Client, { account, id, within }: Database) {
  const resultOf = (answer: any) => [answer.isError ?? false, JSON.parse(answer.content[0].text)]
  const names = yield* Effect.promise(() => client.list())
  expect(names).toContain("pause_protection")
  const read = yield* Effect.promise(() => client.call("get_organization", {}))
  expect(read.structuredContent).toMatchObject({ object: "organization", id })
  const args = { account_id: account }
  const paused = yield* Effect.promise(() => client.call("pause_protection", args))
  expect(paused.structuredContent).toMatchObject({ action: "paused", account_id: account })
  const again = yield* Effect.promise(() => client.call("pause_protection", args))
  expect(resultOf(again)).toMatchObject([true, { error: { type: "invalid_request_error", code: "not_active" } }])
  expect(again.structuredContent).toBeUndefined()
  const bad = yield* Effect.promise(() => client.call("get_account", { account_id: "nothing" }))
  expect(resultOf(bad)).toMatchObject([true, { error: { code: "parameter_invalid", param: "account_id" } }])
  const unknown = yield* Effect.promise(() => client.call("no_such_tool", {}).catch((error: unknown) => error))
  expect(unknown).toMatchObject({ code: -32_602 })
  expect((yield* Effect.promise(() => client.call("resume_protection", args))).isError ?? false).toBe(false)
  const events = yield* within(World.journal(id))
  expect(events.slice(-2).map(({ action, via }) => [action, via]))
    .toEqual([["account.paused", "mcp"], ["account.resumed", "mcp"]])
})

/** Holds the accounts, as changes in progress would. */
const hold = ({ within }: Database): Effect.Effect<void, never, Scope.Scope> =>
  within(
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const held = yield* sql.reserve
      yield* Effect.acquireRelease(
        held.executeUnprepared("begin", [], undefined),
        () => Effect.ignore(held.executeUnprepared("rollback", [], undefined))
      )
      yield* held.executeUnprepared("set local role console_app", [], undefined)
      yield* held.executeUnprepared("lock table account in exclusive mode", [], undefined)
    }).pipe(Effect.orDie)
  ) as Effect.Effect<void, never, Scope.Scope>

/** How many statements wait for what is held. */
const waiting = ({ within }: Database) =>
  within(Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* Effect.orDie(sql<{ count: number }>`
      select count(distinct pid)::int as count from pg_locks where not granted
        and pid in (select pid from pg_stat_activity where datname = current_database())`)
    return row!.count
  }))

const until = (made: Database, wanted: number) =>
  Effect.repeat(Effect.delay(waiting(made), "20 millis"), { until: (count) => count === wanted })

/** A call that is given up while its statement waits leaves nothing behind, and nothing running. */
const cancel = (client: Processes.Client, made: Database) =>
  Effect.scoped(Effect.gen(function*() {
    const before = (yield* made.within(World.journal(made.id))).length
    const controller = new AbortController()
    yield* hold(made)
    const call = client.call("pause_protection", { account_id: made.account }, controller.signal).then(
      () => "answered",
      () => "given up"
    )
    yield* until(made, 1)
    controller.abort()
    expect(yield* Effect.promise(() => call)).toBe("given up")
    yield* until(made, 0)
    expect((yield* made.within(World.journal(made.id))).length).toBe(before)
  }))

const names = Object.keys(Processes.clients)

describe("official clients", () => {
  it.live(
    "over HTTP converse with two replicas in turn, and with those that came after a restart",
    () =>
      Effect.gen(function*() {
        const made = yield* database
        const [one, two] = yield* Effect.all([Processes.serve([], made.env), Processes.serve([], made.env)], {
          concurrency: 2
        })
        const targets = [one.url, two.url]
        const url = yield* Processes.front(targets)
        const connected = yield* Effect.forEach(
          names,
          (name) => Effect.flatMap(made.key, (key) => Processes.connect(name, { url, key }))
        )
        for (const client of connected) yield* converse(client, made)
        const third = yield* Processes.serve([], made.env)
        yield* one.stop("SIGKILL")
        yield* two.stop()
        targets.splice(0, 2, third.url)
        for (const client of connected) yield* converse(client, made)
      }),
    60_000
  )

  it.live(
    "give up a call over HTTP where the revision has a way to, and its statement ends with it",
    () =>
      Effect.gen(function*() {
        const made = yield* database
        const { url } = yield* Processes.serve([], made.env)
        for (const name of ["2.x on 2026-07-28", "2.x that finds out"]) {
          const client = yield* Processes.connect(name, { url, key: yield* made.key })
          yield* cancel(client, made)
          yield* converse(client, made)
        }
        const client = yield* Processes.connect("1.x", { url, key: yield* made.key })
        yield* Effect.scoped(Effect.gen(function*() {
          yield* hold(made)
          const call = client.call("pause_protection", { account_id: made.account }).catch(() => "closed")
          yield* until(made, 1)
          yield* Effect.promise(() => client.close())
          yield* until(made, 0)
          yield* Effect.promise(() => call)
        }))
      }),
    60_000
  )

  it.live(
    "over standard input and output converse with the command that opens PostgreSQL itself, and give up calls",
    () =>
      Effect.gen(function*() {
        const made = yield* database
        for (const name of ["2.x on 2026-07-28", "1.x"]) {
          const client = yield* Processes.connect(name, {
            args: [],
            env: { ...made.env, CONSOLE_API_KEY: yield* made.key }
          })
          yield* converse(client, made)
          yield* cancel(client, made)
          yield* converse(client, made)
          yield* Effect.promise(() => client.close())
        }
      }),
    60_000
  )

  it.live("over standard input and output reach a service elsewhere, across its restart", () =>
    Effect.gen(function*() {
      const made = yield* database
      const one = yield* Processes.serve([], made.env)
      const targets = [one.url]
      const url = yield* Processes.front(targets)
      const connected = yield* Effect.forEach(names, (name) =>
        Effect.flatMap(made.key, (key) =>
          Processes.connect(name, { args: ["--url", `${url}/mcp`], env: { CONSOLE_API_KEY: key } })), {
        concurrency: 2
      })
      for (const client of connected) {
        yield* converse(client, made)
        yield* cancel(client, made)
      }
      yield* one.stop("SIGKILL")
      for (const client of connected) {
        const away = yield* Effect.promise(() =>
          client.call("get_organization", {})
        )
        expect([away.isError, JSON.parse(away.content[0].text).error.code]).toEqual([true, "service_unavailable"])
      }
      targets.splice(0, 1, (yield* Processes.serve([], made.env)).url)
      for (const client of connected) {
        yield* converse(client, made)
      }
    }), 60_000)
})
