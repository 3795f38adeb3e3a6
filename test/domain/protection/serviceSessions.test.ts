/** Which of the service's own sessions signs others out. */
import { assert, describe, it } from "@effect/vitest"
import type { ServiceSession } from "../../../src/domain/protection/ServiceSession.ts"
import { oldestAble } from "../../../src/domain/protection/ServiceSessionFacts.ts"

const now = new Date("2026-03-14T12:00:00.000Z")
const hour = 60 * 60 * 1000

const session = (slot: ServiceSession["slot"], hours: number) => ({
  slot,
  created_at: new Date(now.getTime() - hours * hour)
})

describe("12.5 the session that signs others out", () => {
  it("is the oldest own one, the main or the paired one", () => {
    const [main, paired] = [session("main", 48), session("paired", 72)]
    assert.strictEqual(oldestAble([main, paired], now), paired)
    assert.strictEqual(oldestAble([paired, main], now), paired)
    assert.strictEqual(oldestAble([main], now), main)
  })

  it("is the one that is 24 hours old where the other is not yet", () => {
    const [main, paired] = [session("main", 23), session("paired", 24)]
    assert.strictEqual(oldestAble([main, paired], now), paired)
  })

  it("is none before one of them is 24 hours old", () => {
    const young = { slot: "main" as const, created_at: new Date(now.getTime() - 24 * hour + 1) }
    assert.isUndefined(oldestAble([young, session("paired", 1)], now))
    assert.isUndefined(oldestAble([], now))
  })

  it("is never one that is being paired or no longer used, however old", () => {
    const main = session("main", 24)
    assert.strictEqual(oldestAble([session("pairing", 90), session("retired", 900), main], now), main)
    assert.isUndefined(oldestAble([session("pairing", 90), session("retired", 900)], now))
  })
})
