import { assert, describe, it } from "@effect/vitest"
import { seenMark } from "../../../src/domain/protection/ListDigest.ts"
import { nextStepAt } from "../../../src/domain/protection/Polling.ts"
import { applyOutcomes } from "../../../src/domain/protection/SignOutOutcomes.ts"
import { facts, listed, row } from "../../support/protection/facts.ts"
import { at, hour, now } from "../../support/stored.ts"

const minute = hour / 60

describe("12.4 the next step", () => {
  const monitor = { failures: 0, last_poll_error: null, flood_until: null }

  it("is a poll after about a minute, after five when ten have failed, after an hour without a key", () => {
    assert.deepStrictEqual(nextStepAt(monitor, null, now, 1), at(minute))
    assert.deepStrictEqual(nextStepAt(monitor, null, now, 0.8), at(0.8 * minute))
    assert.deepStrictEqual(nextStepAt({ ...monitor, failures: 9 }, null, now, 1), at(minute))
    assert.deepStrictEqual(nextStepAt({ ...monitor, failures: 10 }, null, now, 1), at(5 * minute))
    const keyless = { ...monitor, failures: 1, last_poll_error: "key_duplicated" }
    assert.deepStrictEqual(nextStepAt(keyless, null, now, 1), at(hour))
  })

  it("is what is due before it, and never before the platform's wait is over", () => {
    assert.deepStrictEqual(nextStepAt(monitor, at(1000), now, 1), at(1000))
    assert.deepStrictEqual(nextStepAt(monitor, at(hour), now, 1), at(minute))
    assert.deepStrictEqual(nextStepAt({ ...monitor, flood_until: at(2 * minute) }, at(1000), now, 1), at(2 * minute))
  })
})

describe("12.4 the mark of a list", () => {
  const list = [listed("d2"), listed("d3")]

  it("does not depend on the order, nor on when a session was last active", () => {
    assert.strictEqual(seenMark(list.toReversed()), seenMark(list))
    assert.strictEqual(seenMark([listed("d2", { last_active_at: now }), listed("d3")]), seenMark(list))
  })

  it("distinguishes everything else", () => {
    const changes = [
      { current: true },
      { created_at: now },
      { device_model: "x" },
      { platform: "x" },
      { app_name: "x" },
      { app_version: "x" },
      { ip: "x" },
      { country: "x" },
      { password_pending: true }
    ]
    const marks = [
      seenMark(list),
      seenMark([listed("d2")]),
      ...changes.map((one) => seenMark([listed("d2", one), listed("d3")]))
    ]
    assert.strictEqual(new Set(marks).size, marks.length)
  })
})

describe("12.5 a sign-out that was tried", () => {
  const wanted = row("d2", { ending_reason: "autokill", ending_at: at(-1), ending_intent: 3, review_deadline: at(-1) })
  const tried = (
    outcome: "done" | "locked" | "unknown_authorization" | "unavailable",
    again = false,
    retryAt: Date | null = null
  ) =>
    applyOutcomes(facts({ sessions: [wanted] }), [
      { session_id: "d2", reason: "autokill", intent: 3, again, outcome, retryAt }
    ], now)

  it("ends the session, journaled by closing its intent, and mailed", () => {
    const done = tried("done")
    assert.deepInclude(done.ended[0]?.termination, { actor: "service", reason: "autokill" })
    assert.deepInclude(done.events[0], { action: "session.autokilled", closes: 3 })
    assert.deepStrictEqual(done.mails.map(({ kind }) => kind), ["session.autokilled"])
    assert.strictEqual(tried("unknown_authorization", true).ended[0]?.termination?.actor, "service")
    assert.strictEqual(tried("unknown_authorization").ended[0]?.termination?.actor, "external")
  })

  it("waits where the platform refuses it, for as long as it says, and keeps its intent where nobody knows", () => {
    const locked = tried("locked")
    assert.deepInclude(locked.upserts[0]?.row, { queued_at: now, ending_reason: "autokill", ending_intent: null })
    assert.deepInclude(locked.events[0], { outcome: "failed", closes: 3 })
    assert.deepStrictEqual([locked.monitor.sign_out_retry_at, locked.dueAt], [at(15 * minute), at(15 * minute)])
    assert.deepStrictEqual(tried("locked", false, at(hour)).dueAt, at(hour))
    const unknown = tried("unavailable")
    assert.deepInclude(unknown.upserts[0]?.row, { queued_at: now, ending_intent: 3 })
    assert.deepStrictEqual(unknown.events, [])
  })
})
