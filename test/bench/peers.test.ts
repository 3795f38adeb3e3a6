import { Effect } from "effect"
import { Client } from "pg"
import { describe, expect, inject, test } from "vitest"
import { compare } from "../../bench/peers/compare.ts"
import { fill } from "../../bench/peers/database.ts"
import { postgresUrl } from "../support/database.ts"

/** The same database as its server's superuser sees it. */
const asSuperuser = (url: string): string => {
  const address = new URL(inject("databases").adminUrl)
  address.pathname = new URL(url).pathname
  return address.href
}

/** Compares the two over fresh databases. */
const compared = Effect.gen(function*() {
  const url = yield* postgresUrl
  const superUrl = asSuperuser(url)
  const superuser = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(superUrl)
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
  const database = yield* Effect.acquireRelease(
    Effect.promise(() => fill(url, superUrl, superuser, { organizations: 2, accounts: 50, keys: 4 })),
    ({ peer }) => Effect.promise(() => peer.remove())
  )
  return yield* Effect.promise(() => compare(database))
}).pipe(Effect.scoped)

describe("the peer that the service is measured beside", () => {
  test("answers and journals like the service", { timeout: 60_000 }, async () => {
    const { differences, requests } = await Effect.runPromise(compared)
    expect(differences).toEqual([])
    expect(requests).toBeGreaterThan(100)
  })
})
