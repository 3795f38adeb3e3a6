/** The organization: its plan, seats and archive (specification, section 2.2). */
import { Duration, Schema } from "effect"
import { OrganizationId } from "./Access.ts"
import { archiveClosedPeriod, archiveReadonlyPeriod } from "./Limits.ts"
import { Count, Timestamp } from "./Wire.ts"

export const Tier = Schema.Literals(["protect", "archive", "governance"])
export type Tier = typeof Tier.Type

export const BillingState = Schema.Literals(["none", "trial", "active", "retry", "lapsed"])
export const OrganizationStatus = Schema.Literals(["active", "pending", "suspended"])
export const Period = Schema.Literals(["monthly", "annual"])
export const ArchivePhase = Schema.Literals(["active", "readonly", "closed", "deleting", "held", "deleted", "empty"])
export type ArchivePhase = typeof ArchivePhase.Type
export const Recipients = Schema.Literals(["owner", "owner_superadmins"])
export type Recipients = typeof Recipients.Type

export const Organization = Schema.Struct({
  object: Schema.Literal("organization"),
  id: OrganizationId.annotate({ description: "What an admin types at sign-in." }),
  name: Schema.String,
  status: OrganizationStatus,
  valid_until: Schema.NullOr(Timestamp),
  protection_active: Schema.Boolean,
  plan: Schema.Struct({
    billing_state: BillingState,
    managed: Schema.Boolean,
    plan: Schema.NullOr(Tier),
    period: Schema.NullOr(Period),
    licences: Schema.NullOr(Schema.Struct({ protect: Count, archive: Count, governance: Count }))
  }),
  seats: Schema.Struct({ limit: Count, used: Count, reserved: Count, free: Count }),
  archive: Schema.Struct({
    key_set: Schema.Boolean,
    plan: Schema.Boolean,
    readable: Schema.Boolean,
    writable: Schema.Boolean,
    phase: ArchivePhase
  }),
  tamper_lockdown_enabled: Schema.Boolean
}).annotate({ identifier: "organization" })
export type Organization = typeof Organization.Type

export const NotificationSettings = Schema.Struct({
  object: Schema.Literal("notification_settings"),
  recipients: Recipients
}).annotate({ identifier: "notification_settings" })

/** What is stored about an organization; everything that it shows is derived from this and the time. */
export interface OrganizationFacts {
  readonly id: OrganizationId
  readonly name: string
  readonly status: typeof OrganizationStatus.Type
  readonly closed_at: Date | null
  readonly managed: boolean
  readonly billing_state: typeof BillingState.Type
  readonly plan: Tier | null
  readonly period: typeof Period.Type | null
  readonly licences_protect: number
  readonly licences_archive: number
  readonly licences_governance: number
  readonly trial_ends_at: Date | null
  readonly valid_until: Date | null
  readonly seat_limit: number
  readonly seats_used: number
  readonly seats_reserved: number
  readonly tamper_lockdown_enabled: boolean
  readonly notification_recipients: Recipients
  readonly archive_key_set: boolean
  readonly archive_first_record_at: Date | null
  readonly archive_plan_ended_at: Date | null
  readonly archive_held_at: Date | null
  readonly archive_deletion_started_at: Date | null
  readonly archive_deleted_at: Date | null
  readonly storage_used_bytes: number
  readonly storage_limit_bytes: number | null
}

const passed = (moment: Date | null, now: Date): boolean => moment !== null && now.getTime() >= moment.getTime()

const licenceLive = (facts: OrganizationFacts, now: Date): boolean =>
  facts.managed
    ? facts.billing_state === "active" || facts.billing_state === "retry" ||
      facts.billing_state === "trial" && !passed(facts.trial_ends_at, now)
    : !passed(facts.valid_until, now)

/** An active organization with a live licence or trial (section 2.2). */
export const isProtectionActive = (facts: OrganizationFacts, now: Date): boolean =>
  facts.status === "active" && licenceLive(facts, now)

/** The plan that is paid for, by subscription or by agreement: null in a trial and after the subscription lapsed. */
export const paidPlan = (facts: OrganizationFacts): Tier | null =>
  !facts.managed || facts.billing_state === "active" || facts.billing_state === "retry" ? facts.plan : null

/** Whether the plan names the archive, in force or not; a trial includes it. */
export const planHasArchive = (facts: OrganizationFacts): boolean =>
  facts.managed && facts.billing_state === "trial" || facts.plan !== null && facts.plan !== "protect"

/** Whether the archive is included now: the plan has it and the licence is live. */
export const includesArchive = (facts: OrganizationFacts, now: Date): boolean =>
  isProtectionActive(facts, now) && planHasArchive(facts)

/** The archive's phase, first match wins (operations design, section 5.5). */
export const archivePhase = (facts: OrganizationFacts, now: Date): ArchivePhase => {
  if (facts.archive_deletion_started_at !== null && facts.archive_deleted_at === null) return "deleting"
  if (facts.archive_first_record_at === null) return facts.archive_deleted_at === null ? "empty" : "deleted"
  if (facts.archive_held_at !== null) return "held"
  if (includesArchive(facts, now)) return "active"
  if (facts.archive_plan_ended_at === null) return "readonly"
  const without = now.getTime() - facts.archive_plan_ended_at.getTime()
  if (without < Duration.toMillis(archiveReadonlyPeriod)) return "readonly"
  return without < Duration.toMillis(archiveReadonlyPeriod) + Duration.toMillis(archiveClosedPeriod)
    ? "closed"
    : "deleting"
}

/** Whether the archive's phase lets new records in, whatever the key says. */
export const phaseIsWritable = (facts: OrganizationFacts, now: Date): boolean => {
  const phase = archivePhase(facts, now)
  const plan = includesArchive(facts, now)
  return phase === "active" || (phase === "empty" || phase === "deleted" || phase === "held") && plan
}

export const seats = (facts: OrganizationFacts) => ({
  limit: facts.seat_limit,
  used: facts.seats_used,
  reserved: facts.seats_reserved,
  free: facts.seat_limit - facts.seats_used - facts.seats_reserved
})

/** The organization as the API shows it at `now`. */
export const organization = (facts: OrganizationFacts, now: Date): Organization => {
  const phase = archivePhase(facts, now)
  const plan = paidPlan(facts)
  return {
    object: "organization",
    id: facts.id,
    name: facts.name,
    status: facts.status,
    valid_until: facts.managed ? null : facts.valid_until,
    protection_active: isProtectionActive(facts, now),
    plan: {
      billing_state: facts.billing_state,
      managed: facts.managed,
      plan,
      period: plan === null ? null : facts.period,
      licences: plan === null ? null : {
        protect: facts.licences_protect,
        archive: facts.licences_archive,
        governance: facts.licences_governance
      }
    },
    seats: seats(facts),
    archive: {
      key_set: facts.archive_key_set,
      plan: includesArchive(facts, now),
      readable: facts.archive_key_set && (phase === "active" || phase === "readonly" || phase === "held"),
      writable: facts.archive_key_set && phaseIsWritable(facts, now),
      phase
    },
    tamper_lockdown_enabled: facts.tamper_lockdown_enabled
  }
}
