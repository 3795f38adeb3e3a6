import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as Loader from "../../src/layers/seed/SeedLoader.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { postgres } from "../support/postgres/database.ts"
import { advance } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const demo: unknown = JSON.parse(fs.readFileSync(new URL("../../seeds/demo.json", import.meta.url), "utf8"))

/** What the API shows of an account, but for when it was looked at and who was active then. */
const shown = (account: any) => ({
  ...account,
  monitoring: { ...account.monitoring, last_polled_at: null, last_poll_error: null, recovery: null },
  sessions: account.sessions
    .map((session: any) => session.current ? { ...session, last_active_at: null } : session)
    .sort((one: any, other: any) => one.id < other.id ? -1 : 1)
})

describe("12 the watch over the demo organization", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("finds what the seed says: ten minutes of looks change nothing that the API shows", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-03-01T12:00:00.000Z"))
        const { keys } = yield* Effect.flatMap(Loader.decode(demo), Loader.load)
        const key = keys.find(({ label }) => label === "Demo owner")?.key ?? ""
        const listed = yield* World.get("/v1/accounts?limit=100", key)
        const read = Effect.forEach(
          listed.body.data as ReadonlyArray<{ id: string }>,
          ({ id }) => Effect.map(World.get(`/v1/accounts/${id}`, key), ({ body }) => shown(body))
        )
        const before = yield* read
        yield* advance("10 minutes")
        assert.deepStrictEqual(yield* read, before)
      }))
  })
})
