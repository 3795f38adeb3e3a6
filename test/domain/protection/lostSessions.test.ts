import { assert, describe, it } from "@effect/vitest"
import type { MonitorFacts } from "../../../src/domain/protection/Facts.ts"
import type { ServiceSession } from "../../../src/domain/protection/ServiceSession.ts"
import { actions, mailed, upserted } from "../../support/protection/decisions.ts"
import { decided, facts, listed, main, row, seen } from "../../support/protection/facts.ts"
import { sessionRef } from "../../support/protection/platform.ts"
import { at, day, hour } from "../../support/stored.ts"

const minute = hour / 60

const paired: ServiceSession = {
  id: "d9",
  slot: "paired",
  session_ref: sessionRef("d9"),
  seen_as: "d9",
  created_at: at(-2 * hour)
}
const withPaired = facts({
  own: [...facts().own, paired],
  account: { paired_state: "active" },
  sessions: [row("d9", { service: true, created_at: paired.created_at })]
})

describe("12.4 lost sessions of the service", () => {
  const lost = (reason: "revoked" | "deleted" | "key_duplicated" | "never") => ({
    outcome: { kind: "lost" as const },
    lost: [{ own: main, reason }],
    codes: 0
  })

  it("stop protection and free the person, and are a takeover where a stranger was seen within a day", () => {
    const stopped = decided(facts(), lost("revoked"))
    assert.deepInclude(stopped.account, { stop_reason: "session_lost", monitoring_state: "stopped" })
    assert.isTrue(stopped.freesIdentity)
    assert.deepStrictEqual(actions(stopped), ["protection.stopped", "outside_change.detected"])
    assert.strictEqual(decided(facts(), lost("deleted")).account.stop_reason, "account_deleted_by_platform")
    const sessions = [row("d2", { review_deadline: at(hour) })]
    const taken = decided(facts({ sessions }), lost("revoked"))
    assert.deepStrictEqual(actions(taken), ["protection.stopped", "takeover.detected"])
    assert.strictEqual(upserted(taken, "d2")?.ending_reason, "hijacked")
    const longAgo = [row("d2", { seen_at: at(-day - 1) })]
    const late = decided(facts({ sessions: longAgo, monitor: { last_ok_at: at(-day - 1) } }), lost("revoked"))
    assert.deepStrictEqual(actions(late), ["protection.stopped", "outside_change.detected"])
  })

  it("are unknown, and no signal, where the fault is the service's own", () => {
    for (const [reason, error] of [["key_duplicated", "key_duplicated"], ["never", "no_key"]] as const) {
      const decision = decided(facts({ sessions: [row("d2")] }), lost(reason))
      assert.deepStrictEqual([actions(decision), decision.signals], [["monitoring.lost"], []])
      assert.deepStrictEqual([decision.account.monitoring_state, decision.monitor.last_poll_error], ["unknown", error])
      const again = decided(facts({ account: { monitoring_state: "unknown" } }), lost(reason))
      assert.deepStrictEqual(actions(again), [])
    }
  })

  it("are replaced by the paired one, whose age counts from then on", () => {
    const replaced = (reason: "revoked" | "key_duplicated") =>
      decided(withPaired, {
        outcome: {
          kind: "seen",
          through: "d9",
          authorizations: [listed("0", { current: true, created_at: paired.created_at })]
        },
        lost: [{ own: main, reason }],
        codes: 0
      })
    const decision = replaced("revoked")
    assert.deepStrictEqual(decision.own, [
      { id: main, slot: "ended", seen_as: null },
      { id: "d9", slot: "main", seen_as: null }
    ])
    assert.deepStrictEqual(decision.account.enforcement_active_at, at(22 * hour))
    assert.strictEqual(decision.account.paired_state, "lost")
    assert.deepStrictEqual(actions(decision), ["monitoring.failed_over", "outside_change.detected"])
    assert.deepStrictEqual(actions(replaced("key_duplicated")), ["monitoring.failed_over"])
    assert.deepStrictEqual(decision.ended.map(({ session_id, termination }) => [session_id, termination]), [[
      "d9",
      null
    ]])
  })

  it("leave the paired one lost where it is not listed, and mailed where it needs the holder to replace it", () => {
    const gone = decided(withPaired, seen([]))
    assert.deepStrictEqual(actions(gone), ["paired_session.lost", "outside_change.detected"])
    assert.include(mailed(gone), "paired_session.lost")
    const alone = decided({ ...withPaired, facets: { through: main, two_fa: null } }, seen([]))
    assert.notInclude(mailed(alone), "paired_session.lost")
    assert.deepStrictEqual(actions(decided(withPaired, seen([listed("d9", { created_at: paired.created_at })]))), [])
  })
})

describe("12.4 polls that fail", () => {
  const failed = (monitor: Partial<MonitorFacts>, seconds?: number) =>
    decided(facts({ monitor }), {
      outcome: seconds === undefined ? { kind: "unavailable", error: "unavailable" } : { kind: "flood", seconds },
      lost: [],
      codes: 0
    })

  it("make the account unknown at the third in a row, or after ten minutes without a good one, once", () => {
    assert.deepStrictEqual(actions(failed({ failures: 1 })), [])
    assert.deepStrictEqual(actions(failed({ failures: 2 })), ["monitoring.lost"])
    assert.deepStrictEqual(actions(failed({ last_ok_at: at(-10 * minute + 1) })), [])
    assert.deepStrictEqual(actions(failed({ last_ok_at: at(-10 * minute) })), ["monitoring.lost"])
    const restored = decided(facts({ account: { monitoring_state: "unknown" } }), seen([]))
    assert.deepStrictEqual([actions(restored), mailed(restored)], [["monitoring.restored"], []])
  })

  it("are none where the platform asks to wait for ten minutes or less", () => {
    assert.deepStrictEqual(failed({}, 600).monitor, { last_polled_at: at(0), flood_until: at(10 * minute) })
    assert.strictEqual(failed({}, 601).monitor.failures, 1)
  })
})
