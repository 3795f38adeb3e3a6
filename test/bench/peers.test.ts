import { Effect } from "effect"
import * as crypto from "node:crypto"
import { Client } from "pg"
import { describe, expect, inject, test } from "vitest"
import { compare } from "../../bench/peers/alike.ts"
import { seed } from "../../bench/peers/fixture.ts"
import { postgresUrl } from "../support/database.ts"

/** The same database as its server's superuser sees it. */
const asSuperuser = (url: string): string => {
  const address = new URL(inject("databases").adminUrl)
  address.pathname = new URL(url).pathname
  return address.href
}

/** Compares the two over a fresh database. */
const compared = Effect.gen(function*() {
  const url = yield* postgresUrl
  const superuser = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(asSuperuser(url))
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
  const pepper = crypto.randomBytes(32).toString("base64")
  return yield* Effect.promise(async () => {
    const fixture = await seed(superuser, pepper, { organizations: 2, accounts: 50, keys: 4 })
    return compare({ url, pepper, superuser, fixture }, [], false)
  })
}).pipe(Effect.scoped)

describe("the peer that the service is measured beside", () => {
  test("answers and journals like the service", { timeout: 60_000 }, async () => {
    const { differences, requests } = await Effect.runPromise(compared)
    expect(differences).toEqual([])
    expect(requests).toBeGreaterThan(50)
  })
})
