import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { ask, dataDirectory, freshDirectory, serve, type Service, shownKeys } from "../support/cli/commandLine.ts"
import { doneInProcess } from "../support/cli/inProcess.ts"
import { postgresServer } from "../support/postgres/database.ts"

/** What a restored service must still have: its journal's head, its accounts, and a secret that it has to open. */
const stateOf = async (service: Service, key: string, verified: string) => {
  const accounts = await ask(service.address, key, "GET", "/v1/accounts?limit=50")
  const managed = accounts.body.data.find(({ role_label }: any) => role_label === "Chief executive")
  const profile = await ask(service.address, key, "GET", `/v1/accounts/${managed.id}/messenger-profile`)
  expect(profile).toMatchObject({
    status: 200,
    body: { two_fa_managed: true, recovery_email_pattern: "a*****e@example.com" }
  })
  // A demo that starts makes a key, and signs: the journal has grown, and is whole.
  expect(verified).toMatch(/^demo +\d+ events, unbroken/)
  // What is archived goes on meanwhile.
  const kept = accounts.body.data.map(({ archive: _, ...account }: any) => account)
  return { accounts: kept, profile: profile.body }
}

/** A change that leaves an entry in the journal. */
const change = (service: Service, key: string) =>
  ask(service.address, key, "PUT", "/v1/me/mail-preferences", {
    security: false,
    storage: false,
    news: false,
    offers: true
  })

describe("a copy of the embedded database's directory", () => {
  it("is the whole service: keys work, the journal is unbroken, and sealed secrets open", async () => {
    const data = dataDirectory()
    const backup = path.join(freshDirectory(), "backup")
    const first = await serve(["--demo", "--data", data])
    const [key = ""] = await shownKeys(first)
    expect((await change(first, key)).status).toBe(200)
    const before = await stateOf(first, key, await doneInProcess(["journal", "verify", "--data", data]))
    expect(await first.stop()).toBe(0)

    fs.cpSync(data, backup, { recursive: true })
    fs.rmSync(data, { recursive: true })
    const restored = await serve(["--demo", "--data", backup])
    expect(await stateOf(restored, key, await doneInProcess(["journal", "verify", "--data", backup]))).toEqual(before)
    expect(await restored.stop()).toBe(0)
  }, 180_000)
})

describe("a copy of PostgreSQL's files, with the peppers", () => {
  it.effect("is the whole service too", () =>
    Effect.gen(function*() {
      const { server, url } = yield* postgresServer()
      const secret = Buffer.alloc(32, 5).toString("base64")
      const env = {
        CONSOLE_DATABASE_URL: url,
        CONSOLE_PEPPERS: secret,
        CONSOLE_CHECKPOINT_KEYS: secret,
        CONSOLE_CSRF_KEYS: secret
      }
      const backup = path.join(server.home, "backup")
      yield* Effect.promise(async () => {
        const first = await serve(["--demo"], env)
        const [key = ""] = await shownKeys(first)
        expect((await change(first, key)).status).toBe(200)
        const before = await stateOf(first, key, await doneInProcess(["journal", "verify"], { env }))
        expect(await first.stop()).toBe(0)
        await server.stop()
        await server.backUp(backup)
        await server.restore(backup)
        await server.start()
        const restored = await serve(["--demo"], env)
        expect(await stateOf(restored, key, await doneInProcess(["journal", "verify"], { env }))).toEqual(before)
        expect(await restored.stop()).toBe(0)
      })
    }).pipe(Effect.scoped), 180_000)
})
