import { expect, it } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import { Effect, Redacted } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { startParams } from "../../../../src/layers/postgres/Pglite.ts"
import { ask, dataDirectory, freshDirectory, serve, until } from "../../../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../../../support/cli/inProcess.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { late } from "../../../support/dataCentre/late.ts"

const owner = "olivia@acme.example"
const phone = "4915770099001"
const day = 86_400_000

const { behind, layer, millis } = late()

/** Runs statements as the superuser on the database of a service that has stopped. */
const execute = (data: string, statements: string) =>
  Effect.acquireUseRelease(
    Effect.promise(() => PGlite.create(path.join(data, "database"), { startParams })),
    (database) => Effect.promise(() => database.exec(statements)),
    (database) => Effect.promise(() => database.close())
  )

/** Makes the deadlines come: in real time they are twelve hours away. */
const deadlinesCome = (data: string) =>
  execute(
    data,
    `update session set review_deadline = now() where review_deadline is not null;
    update monitor set due_at = now(), next_at = now(), epoch = epoch + 1 where next_at is not null`
  )

/** Leaves the tables that a deployment has, which nothing was seeded in. */
const withoutSimulated = (data: string) =>
  execute(
    data,
    `drop table simulated_account, simulated_authorization, simulated_call, simulated_ended_session, simulated_login,
      simulated_platform, simulated_script, simulated_username_for_sale`
  )

it.live(
  "over the wire an account is connected and watched, a stranger signed out at its deadline and a takeover stopped, by processes that are killed and started again in between",
  () =>
    Effect.gen(function*() {
      const { centre, world } = yield* DataCentre.Loopback
      const data = dataDirectory()
      const keys = path.join(data, "data-centres.pem")
      fs.writeFileSync(keys, centre.publicKey)
      yield* withoutSimulated(data)
      const command = (...args: ReadonlyArray<string>) => Effect.promise(() => doneInProcess([...args, "--data", data]))
      yield* command("organizations", "create", "acme", "--name", "Acme", "--owner", owner, "--seats", "3")
      const scopes = "org:read,accounts:write,security:write"
      const { key: secret } = JSON.parse(
        yield* command("keys", "create", "acme", owner, "--label", "K", "--scopes", scopes, "--json")
      )
      const wire = [
        ["--messenger", "wire"],
        ["--messenger-application", "12345"],
        ["--messenger-data-centre", `1@127.0.0.1:${centre.port}`],
        ["--messenger-keys", keys]
      ].flat()
      const start = Effect.promise(() => serve(["--data", data, ...wire], { CONSOLE_MESSENGER_HASH: "0".repeat(32) }))
      behind.millis = 2 * day
      const userId = yield* world.createAccount({ phone, first_name: "Ada" })
      yield* world.logIn(userId, { device_model: "Phone", created_at: new Date(millis() - day) })

      // A start that cannot reach the messenger says so, serves, and keeps trying.
      yield* Effect.promise(centre.down)
      const first = yield* start
      yield* Effect.promise(() => until(() => first.stderr().includes("cannot be reached")))
      const ready = Effect.promise(() =>
        fetch(new URL("/readyz", first.address)).then((response) => response.json() as Promise<any>)
      )
      expect(yield* ready).toEqual({ status: "ok", watch: "active", messenger: "away" })
      yield* Effect.promise(centre.up)
      yield* Effect.promise(() => until(() => first.stderr().includes("is reached")))
      // The answer of /readyz holds for a second at most.
      yield* Effect.repeat(Effect.delay(ready, "200 millis"), { until: ({ messenger }) => messenger === "reached" })

      // A machine that is busy may need longer for the first handshake than a request waits.
      const begun = yield* Effect.repeat(
        Effect.promise(() => ask(first.address, secret, "POST", "/v1/logins", { phone_number: `+${phone}` })),
        { until: ({ status }) => status !== 503, times: 2 }
      )
      expect(begun.body).toMatchObject({ state: "code_sent" })
      yield* Effect.promise(() => first.stop("SIGKILL"))
      const second = yield* start
      const arrived = (yield* world.codes).at(-1)
      const { body: done } = yield* Effect.promise(() =>
        ask(second.address, secret, "POST", `/v1/logins/${begun.body.id}/code`, { code: Redacted.value(arrived!.code) })
      )
      expect(done).toMatchObject({ state: "completed" })
      behind.millis = 0
      const account = (service: typeof second) =>
        Effect.map(
          Effect.promise(() => ask(service.address, secret, "GET", `/v1/accounts/${done.account_id}`)),
          ({ body }) => body
        )
      // Twice a second: a key has 120 requests a minute.
      const holds = (service: typeof second, test: (account: any) => boolean) =>
        Effect.repeat(Effect.delay(account(service), "500 millis"), { until: test })
      yield* holds(second, ({ monitoring }) => monitoring.last_polled_at !== null)

      yield* world.logIn(userId, { device_model: "Thief" })
      const seen = yield* holds(second, ({ sessions }) => sessions.some((one: any) => one.device_model === "Thief"))
      expect(seen.status).toBe("new_sign_in")
      expect(second.stderr()).not.toContain(Redacted.value(arrived!.code))
      expect(second.stderr()).not.toMatch(/demo|simulated/)
      expect(yield* Effect.promise(() => second.stop())).toBe(0)
      yield* deadlinesCome(data)

      const third = yield* start
      const after = yield* holds(third, ({ terminations }) => terminations.length > 0)
      expect(after.terminations).toMatchObject([{ actor: "service", reason: "autokill" }])
      expect(after.status).toBe("protected")

      // The next look, which the sign-in brings, sees both.
      yield* world.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's own") })
      yield* world.logIn(userId, { device_model: "Second thief" })
      const stopped = yield* holds(third, ({ status }) => status === "hijack_blocked")
      expect(stopped.sessions).toHaveLength(1)
      expect(stopped.terminations.slice(0, 2)).toMatchObject([{ reason: "hijacked" }, { reason: "hijacked" }])
      expect(yield* Effect.promise(() => third.stop())).toBe(0)
    }).pipe(Effect.provide(layer)),
  180_000
)

it("says which setting of the wire is missing or unfit", async () => {
  const data = path.join(freshDirectory(), "data")
  const printed = async (...args: ReadonlyArray<string>) =>
    (await runInProcess(["serve", "--data", data, "--port", "0", "--messenger", "wire", ...args])).stderr
  expect(await printed()).toContain("--messenger-application")
  const application = ["--messenger-application", "1"]
  expect(await printed(...application)).toContain("CONSOLE_MESSENGER_HASH")
  expect(await printed(...application, "--demo")).toContain("--demo simulates the messenger")
  expect(fs.existsSync(data)).toBe(false)
}, 60_000)
