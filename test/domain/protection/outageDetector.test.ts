import { assert, describe, it } from "@effect/vitest"
import { type LookOutcome, OutageDetector, outcomeOf } from "../../../src/domain/protection/OutageDetector.ts"

const own = "own"

/** Looks that end a second after each other, each at an account of its own unless they name one. */
const looks = () => {
  const detector = new OutageDetector()
  let now = 1_000_000
  let made = 0
  const look = (outcome: LookOutcome, account = String(made)) => {
    now += 1000
    made += 1
    return detector.looked(now, account, outcome)
  }
  const many = (count: number, outcome: LookOutcome) =>
    Array.from({ length: count }, () => look(outcome)).filter(Boolean).length
  return { look, many, detector, pass: (seconds: number) => void (now += seconds * 1000) }
}

describe("12.4 whether the messenger can be reached at all", () => {
  it("is said by answers and by their absence, not by a session without a key", () => {
    const lost = (reason: "never" | "revoked") => ({ outcome: { kind: "lost" as const }, lost: [{ own, reason }] })
    assert.strictEqual(outcomeOf({ outcome: { kind: "lost" }, lost: [] }), "nothing")
    assert.strictEqual(outcomeOf(lost("never")), "nothing")
    assert.strictEqual(outcomeOf(lost("revoked")), "good")
    assert.strictEqual(outcomeOf({ outcome: { kind: "flood", seconds: 1 }, lost: [] }), "good")
    assert.strictEqual(outcomeOf({ outcome: { kind: "unavailable", error: "refused" }, lost: [] }), "good")
    assert.strictEqual(outcomeOf({ outcome: { kind: "unavailable", error: "unavailable" }, lost: [] }), "failed")
  })

  it("is not where most looks failed, until six in turn are good at accounts that were not seen since", () => {
    const { look, many, detector } = looks()
    many(19, "failed")
    assert.isNull(detector.awaySince)
    many(1, "failed")
    const since = detector.awaySince
    assert.isNotNull(since)
    many(100, "nothing")
    for (let round = 0; round < 5; round++) {
      many(20, "failed")
      for (let again = 0; again < 20; again++) assert.isFalse(look("good", own))
      assert.strictEqual(many(4, "good"), 0)
    }
    assert.strictEqual(detector.awaySince, since)
    look("failed")
    assert.strictEqual(many(6, "good"), 1)
    assert.isNull(detector.awaySince)
    assert.strictEqual(many(100, "good"), 0)
  })

  it("is again where at least half of the accounts answer for ten minutes, however few they are", () => {
    const { look, many, pass, detector } = looks()
    many(20, "failed")
    assert.isFalse(look("good", own))
    pass(599)
    look("failed", "a")
    look("failed", "b")
    assert.isFalse(look("good", own))
    pass(540)
    assert.isFalse(look("failed", "a"))
    pass(120)
    assert.isTrue(look("good", own))
    assert.isNull(detector.awaySince)
  })

  it("ends an outage reported before the start once the looks of the first minute are good", () => {
    const { many } = looks()
    assert.strictEqual(many(60, "good"), 0)
    assert.strictEqual(many(2, "good"), 1)
    const failing = looks()
    assert.strictEqual(failing.many(15, "failed") + failing.many(10, "good") + failing.many(15, "failed"), 0)
    assert.isNotNull(failing.detector.awaySince)
  })
})
