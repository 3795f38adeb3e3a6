import { assert, describe, it } from "@effect/vitest"
import type { Decision } from "../../../src/domain/protection/Decision.ts"
import type { Facets } from "../../../src/domain/protection/Facts.ts"
import { applyOutcomes } from "../../../src/domain/protection/SignOutOutcomes.ts"
import { actions, ended, mailed, upserted } from "../../support/protection/decisions.ts"
import { decided, facts, listed, main, profile, row, security, seen } from "../../support/protection/facts.ts"
import { at, day, hour } from "../../support/stored.ts"

const minute = hour / 60
const young = { enforcement_active_at: at(hour) }

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

  describe("that waits for the platform's lock", () => {
    const waits = (facets: Facets, ...sessions: ReadonlyArray<ReturnType<typeof row>>) =>
      facts({
        own: facts().own.map((one) => ({ ...one, created_at: at(-day + hour) })),
        account: young,
        facets: { through: main, ...facets },
        sessions
      })
    const open = { takeover: "passkey" }
    const marked = row("d2", { ending_reason: "hijacked", ending_at: at(-minute), queued_at: at(-minute) })
    const phone = { created_at: at(-50 * day) }

    it("signs out a stranger who comes meanwhile, too, and reports until when that is", () => {
      const decision = decided(waits(open, marked), seen([listed("d2"), listed("d3")]))
      assert.deepInclude(upserted(decision, "d3"), {
        ending_reason: "hijacked",
        queued_at: at(0),
        review_deadline: at(hour)
      })
      assert.deepStrictEqual(decision.mails.map((mail) => mail.kind === "session.detected" && mail.deadline), [
        at(hour)
      ])
      assert.strictEqual(decision.facets.takeover, "passkey")
    })

    it("signs out a stranger who is first seen in the very look that stops it", () => {
      const sent = { ...marked, ending_intent: 4 }
      const stops = decided(facts({ facets: { through: main, ...open }, sessions: [sent] }), seen([listed("d3")]))
      assert.deepStrictEqual(actions(stops), ["session.signed_out", "session.detected", "takeover.stopped"])
      assert.deepStrictEqual(ended(stops), [["d3", "hijacked"]])
    })

    it("is stopped where its sessions ended before it knew of any, and signs out whom it then finds", () => {
      const nothing = decided(waits(open), seen([]))
      assert.deepStrictEqual([actions(nothing), nothing.facets.takeover], [["takeover.stopped"], undefined])
      assert.deepInclude(nothing.account, { takeover_stopped_at: at(0), lock_reason: "passkey" })
      const found = decided(waits(open), seen([listed("old", phone)]))
      assert.strictEqual(upserted(found, "old")?.ending_reason, "hijacked")
      assert.strictEqual(found.facets.takeover, "passkey")
    })

    it("leaves a stranger their review where an admin has approved all of its sessions, or locks are turned off", () => {
      const approved = row("d2", { approved_at: at(-1) })
      const forgotten = decided(waits(open, approved), seen([listed("d2"), listed("d3")]))
      assert.deepInclude(upserted(forgotten, "d3"), { ending_reason: null, queued_at: null })
      assert.notProperty(forgotten.facets, "takeover")
      const off = decided({ ...waits(open, marked), lockdown: false }, seen([listed("d2"), listed("d3")]))
      assert.strictEqual(upserted(off, "d3")?.ending_reason, null)
    })

    it("spares a stranger whom an admin approves afterwards", () => {
      const approved = row("d3", { approved_at: at(-1) })
      const decision = decided(waits(open, marked, approved), seen([listed("d2"), listed("d3")]))
      assert.isUndefined(upserted(decision, "d3")?.ending_reason ?? undefined)
    })
  })
})

describe("12.7 a service session that is revoked after a stranger's has ended", () => {
  const lost = { outcome: { kind: "lost" as const }, lost: [{ own: main, reason: "revoked" as const }], codes: 0 }
  const judged = (facets: Facets, moment = at(minute)) =>
    decided(facts({ facets: { through: main, ...facets } }), lost, moment).takeover?.signals.map(({ code }) => code)

  it("is a takeover for 24 hours, however the stranger's session has ended", () => {
    const outside = decided(facts({ sessions: [row("d2")] }), seen([]))
    const sent = row("d2", { ending_reason: "autokill", ending_at: at(-1), ending_intent: 4 })
    const attempt = { session_id: "d2", reason: "autokill", intent: 4, again: false, retryAt: null } as const
    const done = applyOutcomes(facts({ sessions: [sent] }), [{ ...attempt, outcome: "done" }], at(0))
    for (const { facets } of [outside, done]) {
      assert.deepStrictEqual(judged(facets), ["T6"])
      assert.deepStrictEqual(judged(facets, at(day - minute)), ["T6"])
      assert.isUndefined(judged(facets, at(day + 1)))
    }
  })

  it("is none where an admin had approved the session, or it was there before the service", () => {
    for (const known of [{ approved_at: at(-minute) }, { baseline: true }]) {
      assert.isUndefined(judged(decided(facts({ sessions: [row("d2", known)] }), seen([])).facets))
    }
  })
})
