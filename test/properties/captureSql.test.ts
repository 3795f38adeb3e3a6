import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Archives from "../support/archive/archives.ts"
import { playCapture } from "../support/capture/captureHistory.ts"
import { sqlGround } from "../support/capture/sqlCapture.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** A short history is played here; `npm run properties -- --property archive` plays many, and long ones. */
const steps = 15

describe("what is captured into the database, whatever happens and at which commit a process dies", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is what the account sees, and each law of it holds at every commit", () =>
      Effect.gen(function*() {
        const { account: { organizationId }, key } = yield* Archives.makeArchive()
        yield* Archives.setKey(organizationId, key)
        const { breaches, deaths } = yield* playCapture(1, yield* sqlGround(organizationId, key), steps)
        expect(breaches).toEqual([])
        expect(deaths).toBeGreaterThan(0)
      }), 60_000)
  })
})
