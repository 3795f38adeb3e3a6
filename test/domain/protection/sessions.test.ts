import { assert, describe, it } from "@effect/vitest"
import type { GuardedAccount } from "../../../src/domain/protection/Facts.ts"
import type { ServiceSession } from "../../../src/domain/protection/ServiceSession.ts"
import { actions, ended, mailed, upserted } from "../../support/protection/decisions.ts"
import { decided, facts, listed, main, row, seen } from "../../support/protection/facts.ts"
import { ownDevice, sessionRef } from "../../support/protection/platform.ts"
import { at, day, hour } from "../../support/stored.ts"

const minute = hour / 60
const young = { enforcement_active_at: at(hour) }

describe("12.5 a session that is seen", () => {
  it("is detected once, with a deadline twelve hours later, and mailed", () => {
    const decision = decided(facts(), seen([listed("d2")]))
    assert.deepStrictEqual(actions(decision), ["session.detected"])
    assert.deepStrictEqual(mailed(decision), ["session.detected"])
    assert.deepStrictEqual(upserted(decision, "d2")?.review_deadline, at(12 * hour))
    assert.deepStrictEqual(decision.dueAt, at(12 * hour))
    assert.deepStrictEqual(actions(decided(facts({ sessions: [row("d2")] }), seen([listed("d2")]))), [])
  })

  it("is one of those before the service where it is no younger, and nobody has looked before", () => {
    const before = { account: { baselined: false } }
    const decision = decided(facts(before), seen([listed("d2", { created_at: at(-40 * day) }), listed("d3")]))
    assert.isTrue(upserted(decision, "d2")?.baseline)
    assert.isFalse(upserted(decision, "d3")?.baseline)
    assert.isTrue(decision.account.baselined)
    const later = decided(facts(), seen([listed("d2", { created_at: at(-40 * day) })]))
    assert.isFalse(upserted(later, "d2")?.baseline)
    const unknown = decided(facts(before), seen([listed("d2", { created_at: null })]))
    assert.isFalse(upserted(unknown, "d2")?.baseline)
  })

  it("is no session of the service because it calls itself so, and no session while its password is awaited", () => {
    assert.deepStrictEqual(actions(decided(facts(), seen([listed("d2", ownDevice)]))), ["session.detected"])
    const waiting = decided(facts(), seen([listed("d2", { password_pending: true })]))
    assert.deepStrictEqual(actions(waiting), ["login.attempted"])
    assert.isUndefined(upserted(waiting, "d2"))
    const again = decided(facts({ facets: waiting.facets }), seen([listed("d2", { password_pending: true })]))
    assert.deepStrictEqual(actions(again), [])
  })

  it("is the service's own by its exact age where it was retired, unless two are", () => {
    const retired: ServiceSession = {
      id: "d9",
      slot: "retired",
      session_ref: sessionRef("d9"),
      seen_as: null,
      created_at: at(-2 * hour)
    }
    const stored = facts({ own: [...facts().own, retired] })
    const own = listed("x", { ...ownDevice, created_at: retired.created_at })
    assert.deepStrictEqual(actions(decided(stored, seen([own]))), [])
    const copy = listed("y", { ...ownDevice, created_at: at(-2 * hour + 1) })
    assert.deepStrictEqual(actions(decided(stored, seen([own, copy]))), ["session.detected"])
    assert.lengthOf(
      actions(decided(stored, seen([own, listed("z", { ...ownDevice, created_at: retired.created_at })]))),
      2
    )
  })

  it("without the asking one among them is no list", () => {
    const decision = decided(facts({ sessions: [row("d2")] }), {
      ...seen([]),
      outcome: { kind: "seen", through: main, authorizations: [listed("d2")] }
    })
    assert.deepStrictEqual(decision.ended, [])
    assert.strictEqual(decision.monitor.last_poll_error, "bad_list")
  })
})

describe("12.5 a deadline", () => {
  it("that is reached signs the session out, and not a millisecond before", () => {
    const due = (deadline: Date) =>
      decided(facts({ sessions: [row("d2", { review_deadline: deadline })] }), seen([listed("d2")]))
    assert.deepStrictEqual(ended(due(at(1))), [])
    assert.deepStrictEqual(ended(due(at(0))), [["d2", "autokill"]])
  })

  it("is never later than 23 hours after the session was created, nor before the platform allows signing out", () => {
    const deadline = (created: Date, account = {}) =>
      upserted(decided(facts({ account }), seen([listed("d2", { created_at: created })])), "d2")?.review_deadline
    assert.deepStrictEqual(deadline(at(-20 * hour)), at(3 * hour))
    assert.deepStrictEqual(deadline(at(-30 * hour)), at(0))
    assert.deepStrictEqual(deadline(at(-hour), { security_lock: true }), at(0))
    assert.deepStrictEqual(deadline(at(-hour), { locked_at: at(-48 * hour + 1) }), at(0))
    assert.deepStrictEqual(deadline(at(-hour), { locked_at: at(-48 * hour) }), at(12 * hour))
  })

  it("before the platform's lock ends is queued, and due at its end", () => {
    const own = facts().own.map((one) => ({ ...one, created_at: at(-day + hour) }))
    const stored = facts({ own, account: young, sessions: [row("d2", { review_deadline: at(0) })] })
    const decision = decided(stored, seen([listed("d2")]))
    assert.deepStrictEqual(ended(decision), [])
    assert.deepStrictEqual(upserted(decision, "d2")?.queued_at, at(0))
    assert.deepStrictEqual(decision.dueAt, at(hour))
    // The first deadline of one that has just been found is no earlier, by its age or on sight.
    const found = (account = {}) =>
      upserted(
        decided(
          facts({ own, account: { ...young, ...account } }),
          seen([listed("d3", { created_at: at(-22.5 * hour) })])
        ),
        "d3"
      )?.review_deadline
    assert.deepStrictEqual([found(), found({ security_lock: true })], [at(hour), at(hour)])
    const ofAge = facts().own.map((one) => ({ ...one, created_at: at(-day) }))
    assert.deepStrictEqual(ended(decided({ ...stored, own: ofAge }, seen([listed("d2")]))), [["d2", "autokill"]])
  })

  it("that a lock has brought forward ends the session by the lock: the journal says so, and the termination keeps to its three reasons", () => {
    const due = (account: Partial<GuardedAccount>, changes: Parameters<typeof row>[1] = {}) =>
      decided(facts({ account, sessions: [row("d2", { seen_at: at(0), ...changes })] }), seen([listed("d2")])).endings
    for (const account of [{ security_lock: true }, { locked_at: at(-hour) }]) {
      const [ending] = due(account)
      assert.deepInclude(ending, { reason: "lock", action: "session.autokilled", details: { reason: "lock" } })
      // A deadline that an ordinary review has set stays one, whatever is locked since.
      const reviewed = { seen_at: at(-12 * hour), review_deadline: at(0) }
      assert.deepInclude(due(account, reviewed)[0], { reason: "autokill", details: { reason: "deadline" } })
    }
    const released = due({}, { review_deadline: at(0) })
    assert.deepInclude(released[0], { reason: "autokill", details: { reason: "deadline" } })
    const killed = row("d2", { ending_reason: "lock", ending_at: at(-1), ending_intent: 7 })
    const gone = decided(facts({ sessions: [killed] }), seen([]))
    assert.deepInclude(gone.ended[0]?.termination, { actor: "service", reason: "autokill" })
    assert.deepInclude(gone.events[0], { action: "session.autokilled", details: { reason: "lock" }, closes: 7 })
  })

  it("is set anew after a resume, and what the pause withheld is signed out", () => {
    const sessions = [row("d2"), row("d3", { withheld_at: at(-hour), withheld_reason: "rejected" })]
    const stored = facts({ account: { resumed_at: at(-minute) }, sessions })
    const decision = decided(stored, seen([listed("d2"), listed("d3")]))
    assert.deepStrictEqual(upserted(decision, "d2")?.review_deadline, at(12 * hour - minute))
    assert.deepStrictEqual(ended(decision), [["d3", "rejected"]])
  })

  it("does not count for what is paused, stopped or offboarded", () => {
    for (const account of [{ paused_at: at(-1) }, { stopped_at: at(-1) }, { offboarded_at: at(-1) }]) {
      const stored = facts({ account, sessions: [row("d2", { review_deadline: at(-hour) })] })
      const decision = decided(stored, seen([listed("d2"), listed("d3")]))
      assert.deepStrictEqual([decision.endings, decision.upserts, decision.events], [[], [], []])
    }
  })
})

describe("12.5 a session that is not listed any more", () => {
  const gone = (changes: Parameters<typeof row>[1], monitor = {}) =>
    decided(facts({ monitor, sessions: [row("d2", changes)] }), seen([])).ended[0]?.termination

  it("was ended outside, or by nobody knows whom where the poll before was not good", () => {
    assert.strictEqual(gone({})?.actor, "external")
    assert.strictEqual(gone({}, { failures: 1 })?.actor, "unknown")
    assert.strictEqual(gone({}, { started_at: at(-1) })?.actor, "unknown")
  })

  it("was ended by the service where a sign-out may have been sent, also when a pause withheld it since", () => {
    assert.deepInclude(gone({ ending_reason: "rejected", ending_intent: 7 }), { actor: "service", reason: "rejected" })
    assert.deepInclude(gone({ withheld_reason: "hijacked", ending_intent: 7 }), {
      actor: "service",
      reason: "hijacked"
    })
    assert.deepInclude(gone({ ending_reason: "rejected" }), { actor: "external", reason: null })
  })
})
