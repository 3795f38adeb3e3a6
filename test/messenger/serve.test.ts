import { expect, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { ask, dataDirectory, freshDirectory, serve } from "../support/cli.ts"
import * as DataCentre from "../support/dataCentre/index.ts"
import { doneHere, runHere } from "../support/here.ts"

const owner = "olivia@acme.example"
const phone = "4915770099001"

it.live(
  "over the wire a login that a killed process has begun goes on in the next one, which sees a stranger at once",
  () =>
    Effect.gen(function*() {
      const { centre, world } = yield* DataCentre.Loopback
      const now = yield* Clock.currentTimeMillis
      const userId = yield* world.createAccount({ phone, first_name: "Ada" })
      yield* world.logIn(userId, { device_model: "Phone", created_at: new Date(now - 86_400_000) })
      const data = dataDirectory()
      const keys = path.join(data, "data-centres.pem")
      fs.writeFileSync(keys, centre.publicKey)
      const command = (...args: ReadonlyArray<string>) => Effect.promise(() => doneHere([...args, "--data", data]))
      yield* command("organizations", "create", "acme", "--name", "Acme", "--owner", owner, "--seats", "3")
      const scopes = "org:read,accounts:write,security:write"
      const { key: secret } = JSON.parse(
        yield* command("keys", "create", "acme", owner, "--label", "K", "--scopes", scopes, "--json")
      )
      const start = Effect.promise(() =>
        serve([
          "--data",
          data,
          "--messenger",
          "wire",
          "--messenger-application",
          "12345",
          "--messenger-data-centre",
          `1@127.0.0.1:${centre.port}`,
          "--messenger-keys",
          keys
        ], { CONSOLE_MESSENGER_HASH: "0".repeat(32) })
      )
      const first = yield* start
      // A machine that is busy may need longer for the first handshake than a request waits.
      const begun = yield* Effect.repeat(
        Effect.promise(() => ask(first.address, secret, "POST", "/v1/logins", { phone_number: `+${phone}` })),
        { until: ({ status }) => status !== 503, times: 2 }
      )
      expect(begun.body).toMatchObject({ state: "code_sent" })
      yield* Effect.promise(() => first.stop("SIGKILL"))
      const second = yield* start
      const request = (method: string, at: string, body?: unknown) =>
        Effect.promise(() => ask(second.address, secret, method, at, body))
      const arrived = (yield* world.codes).at(-1)
      const { body: done } = yield* request("POST", `/v1/logins/${begun.body.id}/code`, {
        code: Redacted.value(arrived!.code)
      })
      expect(done).toMatchObject({ state: "completed" })
      const account = request("GET", `/v1/accounts/${done.account_id}`)
      // Twice a second: a key has 120 requests a minute.
      const holds = (test: (body: any) => boolean) =>
        Effect.repeat(Effect.delay(account, "500 millis"), { until: ({ body }) => test(body) })
      yield* holds(({ monitoring }) => monitoring.last_polled_at !== null)
      yield* world.logIn(userId, { device_model: "Thief" })
      yield* holds(({ sessions }) => sessions.some((one: any) => one.device_model === "Thief"))
      const { body: seen } = yield* account
      expect(seen.status).toBe("new_sign_in")
      expect(second.stderr()).not.toContain(Redacted.value(arrived!.code))
      expect(yield* Effect.promise(() => second.stop())).toBe(0)
    }).pipe(Effect.provide(DataCentre.layer)),
  120_000
)

it("says which setting of the wire is missing or unfit", async () => {
  const data = path.join(freshDirectory(), "data")
  const told = async (...args: ReadonlyArray<string>) =>
    (await runHere(["serve", "--data", data, "--port", "0", "--messenger", "wire", ...args])).stderr
  expect(await told()).toContain("--messenger-application")
  const application = ["--messenger-application", "1"]
  expect(await told(...application)).toContain("CONSOLE_MESSENGER_HASH")
  expect(await told(...application, "--demo")).toContain("--demo simulates the messenger")
  expect(fs.existsSync(data)).toBe(false)
}, 60_000)
