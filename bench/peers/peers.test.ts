import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { postgresUrl } from "../../test/support/postgres/database.ts"
import { asSuperuser, superuser } from "../../test/support/postgres/superuser.ts"
import { compare } from "./compare.ts"
import { fill } from "./database.ts"

/** Compares the two over fresh databases. */
const compared = Effect.gen(function*() {
  const url = yield* postgresUrl
  const client = yield* superuser(url)
  const database = yield* Effect.acquireRelease(
    Effect.promise(() => fill(url, asSuperuser(url), client, { organizations: 2, accounts: 50, keys: 4 })),
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
