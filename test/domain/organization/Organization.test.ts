import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  ArchivePhase,
  archivePhase,
  BillingState,
  endedByTime,
  isProtectionActive,
  organization,
  type OrganizationFacts,
  OrganizationStatus,
  paidPlan,
  seats
} from "../../../src/domain/organization/Organization.ts"
import { drawn } from "../../support/drawn.ts"
import { at, day, hour, now, organizationFacts } from "../../support/stored.ts"

const active = (facts: Partial<OrganizationFacts>) => isProtectionActive(organizationFacts(facts), now)
const phase = (facts: Partial<OrganizationFacts>) => archivePhase(organizationFacts(facts), now)
const archive = (facts: Partial<OrganizationFacts>) => organization(organizationFacts(facts), now).archive

describe("2.2 protection_active", () => {
  it("S2.2-05: holds for each billing state as its licence does", () => {
    assert.deepStrictEqual(BillingState.literals.filter((billing_state) => active({ billing_state })), [
      "trial",
      "active",
      "retry"
    ])
  })

  it("S2.2-05: never holds for an organization that is pending or suspended", () => {
    for (const status of OrganizationStatus.literals.filter((one) => one !== "active")) {
      for (const billing_state of BillingState.literals) {
        assert.isFalse(active({ status, billing_state }))
        assert.isFalse(active({ status, managed: false, billing_state }))
      }
    }
  })

  it("S2.2-05: ends with the trial, to the millisecond", () => {
    const trial = (trial_ends_at: Date) => active({ billing_state: "trial", trial_ends_at })
    assert.isTrue(trial(at(1)))
    assert.isFalse(trial(at(0)))
    assert.isFalse(trial(at(-1)))
    assert.isTrue(active({ billing_state: "active", trial_ends_at: at(-day) }))
  })

  it("S2.2-05: ends with valid_until of an agreement, to the millisecond, and an open end never comes", () => {
    const agreed = (valid_until: Date | null) => active({ managed: false, billing_state: "none", valid_until })
    assert.isTrue(agreed(at(1)))
    assert.isFalse(agreed(at(0)))
    assert.isFalse(agreed(at(-1)))
    assert.isTrue(agreed(null))
    assert.isTrue(active({ valid_until: at(-day) }))
  })
})

describe("2.2 plan and valid_until", () => {
  it("S2.2-08, S2.2-09: plan, period and licences are null in a trial and without a paid plan", () => {
    for (const billing_state of ["none", "trial", "lapsed"] as const) {
      const { plan } = organization(organizationFacts({ billing_state }), now)
      assert.deepStrictEqual(plan, { billing_state, managed: true, plan: null, period: null, licences: null })
    }
    for (const billing_state of ["active", "retry"] as const) {
      const { plan } = organization(organizationFacts({ billing_state }), now)
      assert.deepStrictEqual(plan, {
        billing_state,
        managed: true,
        plan: "archive",
        period: "annual",
        licences: { protect: 0, archive: 10, governance: 0 }
      })
    }
  })

  it("S2.2-07, S2.2-08: by agreement the plan is the agreed one, whatever the billing state", () => {
    for (const billing_state of BillingState.literals) {
      assert.strictEqual(paidPlan(organizationFacts({ managed: false, billing_state })), "archive")
    }
    assert.isNull(paidPlan(organizationFacts({ managed: false, plan: null })))
    assert.isNull(organization(organizationFacts({ managed: false, plan: null }), now).plan.licences)
  })

  it("S2.2-04: valid_until is shown for an agreement alone", () => {
    const shown = (managed: boolean, valid_until: Date | null) =>
      organization(organizationFacts({ managed, valid_until }), now).valid_until
    assert.deepStrictEqual(shown(false, at(day)), at(day))
    assert.isNull(shown(false, null))
    assert.isNull(shown(true, at(day)))
  })
})

describe("5.5 the archive's phase", () => {
  const lapsed = { billing_state: "lapsed" } as const
  const deleting = { archive_deletion_started_at: at(-hour) }
  const deleted = { ...deleting, archive_deleted_at: at(-1), archive_first_record_at: null }

  it("S2.2-16: is empty before the first record, and active with one", () => {
    assert.strictEqual(phase({ archive_first_record_at: null }), "empty")
    assert.strictEqual(phase({ archive_first_record_at: null, ...lapsed }), "empty")
    assert.strictEqual(phase({}), "active")
    assert.strictEqual(phase({ billing_state: "trial", plan: null, trial_ends_at: at(1) }), "active")
  })

  it("S2.2-16: is readonly for 30 days without the plan, then closed for 60, then deleting, to the millisecond", () => {
    const without = (days: number, more = 0) => phase({ ...lapsed, archive_plan_ended_at: at(-days * day - more) })
    assert.strictEqual(without(0), "readonly")
    assert.strictEqual(without(30, -1), "readonly")
    assert.strictEqual(without(30), "closed")
    assert.strictEqual(without(90, -1), "closed")
    assert.strictEqual(without(90), "deleting")
    assert.strictEqual(phase({ ...lapsed, archive_plan_ended_at: null }), "readonly")
  })

  it("S2.2-16: is readonly whatever takes the plan away, and active again when it is back", () => {
    for (
      const facts of [
        lapsed,
        { plan: "protect" },
        { plan: null },
        { status: "suspended" },
        { billing_state: "trial", trial_ends_at: at(0) },
        { managed: false, valid_until: at(0) }
      ] as const
    ) {
      assert.strictEqual(phase({ archive_plan_ended_at: at(-day), ...facts }), "readonly")
    }
    assert.strictEqual(phase({ archive_plan_ended_at: at(-50 * day) }), "active")
  })

  it("S2.2-16: is held in place of active, readonly and closed, and when released what it would be", () => {
    for (const ended of [null, at(-day), at(-40 * day), at(-100 * day)]) {
      assert.strictEqual(phase({ ...lapsed, archive_plan_ended_at: ended, archive_held_at: at(-hour) }), "held")
    }
    assert.strictEqual(phase({ archive_held_at: at(-hour) }), "held")
  })

  it("S2.2-16: is deleting from the start of a deletion to its end, deleted after, active with the next record", () => {
    assert.strictEqual(phase(deleting), "deleting")
    assert.strictEqual(phase({ ...deleting, archive_first_record_at: null }), "deleting")
    assert.strictEqual(phase(deleted), "deleted")
    assert.strictEqual(phase({ ...deleted, archive_first_record_at: at(0) }), "active")
  })

  it("S2.2-16, S3.2-01: takes seven values and no other", () => {
    assert.deepStrictEqual([...ArchivePhase.literals].toSorted(), [
      "active",
      "closed",
      "deleted",
      "deleting",
      "empty",
      "held",
      "readonly"
    ])
  })

  const ended = (days: number) => ({ ...lapsed, archive_plan_ended_at: at(-days * day) })
  const rows: ReadonlyArray<
    readonly [string, Partial<OrganizationFacts>, plan: boolean, read: boolean, write: boolean]
  > = [
    ["active", {}, true, true, true],
    ["readonly", ended(1), false, true, false],
    ["closed", ended(40), false, false, false],
    ["deleting", ended(100), false, false, false],
    ["deleting", deleting, true, false, false],
    ["held", { archive_held_at: at(-1) }, true, true, true],
    ["held", { archive_held_at: at(-1), ...ended(40) }, false, true, false],
    ["empty", { archive_first_record_at: null }, true, false, true],
    ["empty", { archive_first_record_at: null, ...lapsed }, false, false, false],
    ["deleted", deleted, true, false, true],
    ["deleted", { ...deleted, ...lapsed }, false, false, false]
  ]

  it.each(rows)(
    "S2.2-15: %s with %o has the plan %s, is readable %s and writable %s",
    (expected, facts, plan, readable, writable) => {
      assert.deepStrictEqual(archive(facts), {
        key_set: true,
        plan,
        readable,
        writable,
        phase: expected as ArchivePhase
      })
    }
  )

  it.each(rows)("S2.2-14: %s with %o is neither readable nor writable without a key", (_, facts) => {
    const { key_set, readable, writable } = archive({ ...facts, archive_key_set: false })
    assert.deepStrictEqual({ key_set, readable, writable }, { key_set: false, readable: false, writable: false })
  })

  it("S2.2-15: the plan includes the archive with archive, governance and in a trial", () => {
    const plan = (facts: Partial<OrganizationFacts>) => archive(facts).plan
    assert.deepStrictEqual(
      (["protect", "archive", "governance", null] as const).map((tier) => plan({ plan: tier })),
      [false, true, true, false]
    )
    assert.isTrue(plan({ billing_state: "trial", plan: null }))
    assert.isFalse(plan({ billing_state: "trial", plan: null, trial_ends_at: at(0) }))
    assert.isFalse(plan({ managed: false, billing_state: "trial", plan: null }))
  })
})

describe("2.2 seats", () => {
  const Seats = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

  it.prop(
    "S2.2-13: free is limit minus used minus reserved, below zero too",
    [Seats, Seats, Seats],
    ([limit, used, reserved]) => {
      const shown = seats(organizationFacts({ seat_limit: limit, seats_used: used, seats_reserved: reserved }))
      assert.deepStrictEqual(shown, { limit, used, reserved, free: limit - used - reserved })
    },
    drawn()
  )
})

describe("3 what time alone changes", () => {
  const over = [
    { billing_state: "trial", trial_ends_at: at(-day) },
    { managed: false, billing_state: "none", valid_until: at(-31 * day) }
  ] as const

  it("ends a trial that is over, and suspends 30 days after a licence has ended", () => {
    const changes = over.map((facts) => endedByTime(organizationFacts(facts), now))
    assert.strictEqual(changes[0]?.billing_state, "lapsed")
    assert.deepInclude(changes[1], { status: "suspended", suspend_reason: "licence" })
  })

  it("changes nothing of an organization that is closed", () => {
    for (const facts of over) assert.isNull(endedByTime(organizationFacts({ ...facts, closed_at: at(-day) }), now))
  })
})
