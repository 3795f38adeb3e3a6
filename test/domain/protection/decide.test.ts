import { assert, describe, it } from "@effect/vitest"
import type { Decision } from "../../../src/domain/protection/Decision.ts"
import type { Facets, MonitorFacts, OwnSession } from "../../../src/domain/protection/Facts.ts"
import { decided, facts, listed, main, profile, row, security, seen } from "../../support/protection/facts.ts"
import { ownDevice, sessionRef } from "../../support/protection/platform.ts"
import { at, day, hour } from "../../support/stored.ts"

const minute = hour / 60

const actions = ({ events }: Decision) => events.map(({ action }) => action)
const mailed = ({ mails }: Decision) => mails.map(({ kind }) => kind)
const ended = ({ endings }: Decision) => endings.map(({ reason, session_id }) => [session_id, reason])
const upserted = (decision: Decision, id: string) => decision.upserts.find(({ row }) => row.id === id)?.row
const young = { enforcement_active_at: at(hour) }
const paired: OwnSession = {
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
    const retired: OwnSession = { ...paired, slot: "retired", seen_as: null }
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

describe("12.7 a signal", () => {
  const known: Facets = {
    through: main,
    two_fa: null,
    reset_at: null,
    login_email: "a*****b@example.org",
    recovery: { present: false, pending: null, pattern: null },
    passkeys: [],
    phone: profile.phone
  }
  const look = (changes: Partial<typeof security>, sessions = [row("d2", { review_deadline: at(hour) })]) =>
    decided(
      facts({ facets: known, sessions }),
      seen([listed("d2")], { security: { ...security, ...changes }, profile })
    )

  it.each([
    ["T1", { two_fa_present: true, two_fa_mark: "m" }],
    ["T1", { reset_at: at(day) }],
    ["T2", { has_recovery: true }],
    ["T2", { recovery_pending_pattern: "x*****y@example.org" }],
    ["T2", { login_email_pattern: null }],
    ["T4", { passkey_ids: ["p"] }]
  ])("%s is a takeover while a stranger is there, and alone it is told", (code, changes) => {
    const takeover = look(changes)
    assert.deepStrictEqual(takeover.signals.map((signal) => signal.code), [code])
    assert.deepStrictEqual(actions(takeover), ["takeover.detected"])
    assert.deepStrictEqual(ended(takeover), [["d2", "hijacked"]])
    const alone = look(changes, [row("d2", { approved_at: at(-minute) })])
    assert.deepStrictEqual([actions(alone), mailed(alone)], [["outside_change.detected"], ["outside_change.detected"]])
    assert.deepStrictEqual(ended(alone), [])
  })

  it("is none where nothing was known before, where nothing could be read, or where a reset was taken back", () => {
    assert.deepStrictEqual(look({}).signals, [])
    const adopted = decided(facts(), seen([], { security: { ...security, two_fa_present: true, two_fa_mark: "m" } }))
    assert.deepStrictEqual([adopted.signals, adopted.facets.two_fa], [[], "m"])
    assert.deepStrictEqual(look({ two_fa_present: null, has_recovery: null, passkey_ids: null }).signals, [])
    const asked = facts({ facets: { ...known, reset_at: at(day).toISOString() } })
    assert.deepStrictEqual(decided(asked, seen([], { security, profile })).signals, [])
  })

  it("T3 is another phone number, T5 two sessions ended within ten minutes, T7 a code, once an hour", () => {
    const phone = decided(facts({ facets: known }), seen([], { profile: { ...profile, phone: "1" } }))
    assert.deepStrictEqual(phone.signals.map(({ code }) => code), ["T3"])
    assert.strictEqual(phone.account.phone_number, "+1")
    const together = (endedOutside: ReadonlyArray<Date>) =>
      decided(facts({ endedOutside, sessions: [row("d2")] }), seen([])).signals.map(({ code }) => code)
    assert.deepStrictEqual([together([]), together([at(-10 * minute)]), together([at(-10 * minute - 1)])], [
      [],
      ["T5"],
      []
    ])
    const code = decided(facts(), { ...seen([]), codes: 3 })
    assert.deepStrictEqual([actions(code), mailed(code)], [["login.attempted"], ["login.attempted"]])
    const again = (minutes: number) =>
      actions(decided(facts({ facets: code.facets }), { ...seen([]), codes: 1 }, at(minutes * minute)))
    assert.deepStrictEqual([again(59), again(60)], [[], ["login.attempted"]])
    assert.deepStrictEqual(actions(decided(facts({ account: { login_open: true } }), { ...seen([]), codes: 1 })), [])
  })

  it("reports a 2FA password that the service no longer holds", () => {
    const stored = facts({ account: { two_fa_managed: true } })
    const decision = decided(stored, seen([], { security: { ...security, two_fa_present: true, two_fa_mark: "m" } }))
    assert.deepStrictEqual([actions(decision), decision.facets.two_fa_lost], [["two_fa.lost"], true])
    const again = { ...stored, facets: decision.facets }
    assert.deepStrictEqual(actions(decided(again, seen([]))), [])
    const held = { ...security, two_fa_present: true, two_fa_mark: "m", two_fa_managed: true }
    assert.notProperty(decided(again, seen([], { security: held })).facets, "two_fa_lost")
  })
})

describe("12.7 a takeover", () => {
  const stored = (changes: Parameters<typeof facts>[0] = {}) =>
    facts({
      facets: { through: main, passkeys: [] },
      sessions: [
        row("old", { baseline: true, created_at: at(-50 * day) }),
        row("known", { approved_at: at(-day), created_at: at(-3 * hour) }),
        row("d2", { review_deadline: at(-1) }),
        row("d3", { created_at: at(-minute) })
      ],
      ...changes
    })
  const list = seen(["old", "known", "d2", "d3"].map((id) => listed(id)), {
    security: { ...security, passkey_ids: ["p"] }
  })
  const reasons = ({ upserts }: Decision) =>
    upserts.filter(({ row }) => !row.service).map(({ row }) => row.ending_reason)

  it("signs out everything that is not the service's, approved and older sessions too, the youngest stranger first", () => {
    const decision = decided(
      stored(),
      seen([
        listed("old", { created_at: at(-50 * day) }),
        listed("known", { created_at: at(-3 * hour) }),
        listed("d2"),
        listed("d3", { created_at: at(-minute) })
      ], { security: { ...security, passkey_ids: ["p"] } })
    )
    assert.deepStrictEqual(ended(decision), [
      ["d3", "hijacked"],
      ["d2", "hijacked"],
      ["known", "hijacked"],
      ["old", "hijacked"]
    ])
    assert.notProperty(decision.account, "takeover_stopped_at")
  })

  it("waits for the platform's lock, and is only reported where locks are turned off", () => {
    const own = facts().own.map((one) => ({ ...one, created_at: at(-day + hour) }))
    const queued = decided(stored({ own, account: young }), list)
    assert.strictEqual(queued.takeover?.response, "queued")
    assert.deepStrictEqual([ended(queued), reasons(queued)], [[], ["hijacked", "hijacked", "hijacked", "hijacked"]])
    const off = decided(stored({ lockdown: false }), list)
    assert.strictEqual(off.takeover?.response, "none")
    assert.deepStrictEqual(ended(off), [["d2", "autokill"]])
    assert.deepStrictEqual(mailed(off), ["takeover.detected"])
  })

  it("is stopped when one of its sessions has ended, and forgotten when an admin has approved them all", () => {
    const open = { through: main, takeover: "passkey" }
    const hijacked = row("d2", { ending_reason: "hijacked", ending_at: at(-minute), ending_intent: 4 })
    const stopped = decided(facts({ facets: open, sessions: [hijacked] }), seen([]))
    assert.deepStrictEqual(actions(stopped), ["session.signed_out", "takeover.stopped"])
    assert.deepInclude(stopped.account, { takeover_stopped_at: at(0), locked_at: at(0), lock_reason: "passkey" })
    const approved = { ...hijacked, approved_at: at(-1) }
    const spared = decided(facts({ facets: open, sessions: [approved] }), seen([listed("d2")]))
    assert.deepStrictEqual([ended(spared), spared.facets.takeover, spared.account], [[], undefined, {}])
    assert.deepInclude(spared.events[0], { action: "session.signed_out", outcome: "failed", closes: 4 })
  })
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
