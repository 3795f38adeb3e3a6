import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { ask, freshDirectory, serve } from "../../../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../../../support/cli/inProcess.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { late } from "../../../support/dataCentre/late.ts"
import { postgresUrl } from "../../../support/postgres/database.ts"
import { superuser } from "../../../support/postgres/superuser.ts"

const owner = "olivia@acme.example"
const phone = "4915770099002"
const day = 86_400_000

const { behind, layer, millis } = late()

it.live(
  "beside a worker, a process with the role api never takes the right to watch, not while the worker restarts either",
  () =>
    Effect.gen(function*() {
      const { centre, world } = yield* DataCentre.Loopback
      const url = yield* postgresUrl
      const client = yield* superuser(url)
      const secret = crypto.randomBytes(32).toString("base64")
      const data = freshDirectory()
      const keys = path.join(data, "data-centres.pem")
      fs.mkdirSync(data, { recursive: true })
      fs.writeFileSync(keys, centre.publicKey)
      const env = {
        CONSOLE_DATABASE_URL: url,
        CONSOLE_PEPPERS: secret,
        CONSOLE_CHECKPOINT_KEYS: secret,
        CONSOLE_CSRF_KEYS: secret,
        CONSOLE_DATA: path.join(data, "never"),
        CONSOLE_MESSENGER_HASH: "0".repeat(32)
      }
      const command = (...args: ReadonlyArray<string>) => Effect.promise(() => doneInProcess([...args], { env }))
      yield* command("organizations", "create", "acme", "--name", "Acme", "--owner", owner, "--seats", "3")
      const scopes = "org:read,accounts:write,security:write"
      const { key } = JSON.parse(
        yield* command("keys", "create", "acme", owner, "--label", "K", "--scopes", scopes, "--json")
      )
      const wire = [
        ["--messenger", "wire"],
        ["--messenger-application", "12345"],
        ["--messenger-data-centre", `1@127.0.0.1:${centre.port}`],
        ["--messenger-keys", keys]
      ].flat()
      const start = (role: string) => Effect.promise(() => serve(["--roles", role, ...wire], env))
      const ready = (service: { readonly address: string }) =>
        Effect.promise(async () => {
          const response = await fetch(new URL("/readyz", service.address))
          return [response.status, ((await response.json()) as { readonly watch?: string }).watch]
        })
      const holders = Effect.promise(async () =>
        (await client.query("select distinct address from cluster_locks")).rows.map(({ address }) => address)
      )

      behind.millis = 2 * day
      const userId = yield* world.createAccount({ phone, first_name: "Ada" })
      yield* world.logIn(userId, { device_model: "Phone", created_at: new Date(millis() - day) })
      const api = yield* start("api")
      expect(yield* holders).toEqual([])
      const worker = yield* start("worker")
      yield* Effect.repeat(Effect.delay(ready(worker), "200 millis"), { until: ([, watch]) => watch === "active" })
      const begun = yield* Effect.repeat(
        Effect.promise(() => ask(api.address, key, "POST", "/v1/logins", { phone_number: `+${phone}` })),
        { until: ({ status }) => status !== 503, times: 2 }
      )
      const arrived = (yield* world.codes).at(-1)
      const { body: done } = yield* Effect.promise(() =>
        ask(api.address, key, "POST", `/v1/logins/${begun.body.id}/code`, { code: Redacted.value(arrived!.code) })
      )
      expect(done).toMatchObject({ state: "completed" })
      behind.millis = 0
      const account = Effect.map(
        Effect.promise(() => ask(api.address, key, "GET", `/v1/accounts/${done.account_id}`)),
        ({ body }) => body
      )
      const holds = (test: (account: any) => boolean) =>
        Effect.timeout(Effect.repeat(Effect.delay(account, "500 millis"), { until: test }), "40 seconds")
      yield* holds(({ monitoring }) => monitoring.last_polled_at !== null)

      expect(yield* Effect.promise(() => worker.stop())).toBe(0)
      // A worker would have got the slots by now.
      yield* Effect.sleep("5 seconds")
      expect(yield* holders).toEqual([])
      yield* world.logIn(userId, { device_model: "Thief" })
      yield* Effect.promise(() => client.query("update monitor set next_at = now()"))
      const again = yield* start("worker")
      yield* holds(({ sessions }) => sessions.some((one: any) => one.device_model === "Thief"))
      expect(yield* ready(again)).toEqual([200, "active"])
      expect(yield* ready(api)).toEqual([200, undefined])
      expect(yield* Effect.promise(() => again.stop())).toBe(0)
      expect(yield* Effect.promise(() => api.stop())).toBe(0)

      // Nobody polls from now on, which the command says where it is asked.
      const status = Effect.promise(() => runInProcess(["status"], { env }))
      expect((yield* status).stdout).toMatch(/^Watch +last poll 20/m)
      const hourAgo = "now() - interval '1 hour'"
      yield* Effect.promise(() =>
        client.query(`update monitor set next_at = ${hourAgo}, last_polled_at = ${hourAgo}, last_ok_at = ${hourAgo}`)
      )
      const alarm = yield* status
      expect(alarm.status).toBe(1)
      expect(alarm.stderr).toMatch(/^Protection: no process polls the accounts, although some are due: .+\.$/m)
    }).pipe(Effect.provide(layer)),
  180_000
)
