import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as path from "node:path"
import { ask, freshDirectory, serve, shownKeys, until } from "../support/cli/commandLine.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { superuser } from "../support/postgres/superuser.ts"

const secret = crypto.randomBytes(32).toString("base64")

describe("12.4 a process that answers requests and one that watches, on PostgreSQL", () => {
  it.effect(
    "what the one is asked, the other hears at once",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const env = {
          CONSOLE_DATABASE_URL: url,
          CONSOLE_PEPPERS: secret,
          CONSOLE_CHECKPOINT_KEYS: secret,
          CONSOLE_CSRF_KEYS: secret,
          CONSOLE_DATA: path.join(freshDirectory(), "never")
        }
        const client = yield* superuser(url)
        yield* Effect.promise(async () => {
          const only = async (sql: string, values: ReadonlyArray<unknown> = []) =>
            (await client.query({ text: sql, values: [...values], rowMode: "array" })).rows[0]?.[0]
          const listening = () =>
            only(
              "select count(*)::int from pg_stat_activity where query like 'LISTEN%' and datname = current_database()"
            )
          const api = await serve(["--demo", "--roles", "api"], env)
          const [key = ""] = await shownKeys(api)
          expect(await listening()).toBe(0)
          const worker = await serve(["--demo", "--roles", "worker"], env)
          await until(async () => await listening() === 1)
          const { body } = await ask(api.address, key, "GET", "/v1/accounts?status=protected")
          const { id } = body.data[0]
          const notified: Array<string> = []
          await client.query("listen console_due")
          client.on("notification", ({ channel }) => notified.push(channel))
          for (const act of ["pause", "resume"]) await ask(api.address, key, "POST", `/v1/accounts/${id}/${act}`)
          await until(() => notified.length > 0)
          await until(async () => !await only("select urgent from monitor where account_id = $1", [id]))
          expect(await worker.stop()).toBe(0)
          // A worker serves none of the addresses, and leaves the keys to the process that does.
          expect(worker.stdout()).toContain("This process watches the accounts of the demo")
          expect(worker.stdout()).not.toMatch(/_live_|\/console|\/v1/)
          expect((await ask(api.address, key, "GET", "/v1/organization")).status).toBe(200)
          expect(await api.stop()).toBe(0)
          expect(await listening()).toBe(0)
        })
      }).pipe(Effect.scoped),
    180_000
  )
})
