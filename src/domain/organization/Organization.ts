/** The organization: its plan, seats and archive (specification, section 2.2). */
import { Schema } from "effect"
import { archiveEnd } from "../archive/ArchiveEnd.ts"
import { Count, described, Kind, Timestamp } from "../JsonShapes.ts"
import { licenceEndKept } from "../Limits.ts"
import { after } from "../Moments.ts"
import { OrganizationId } from "./OrganizationId.ts"

export const Tier = Schema.Literals(["protect", "archive", "governance"])
export type Tier = typeof Tier.Type

export const BillingState = Schema.Literals(["none", "trial", "active", "retry", "lapsed"])
export const OrganizationStatus = Schema.Literals(["active", "pending", "suspended"])
export const Period = Schema.Literals(["monthly", "annual"])
export const ArchivePhase = Schema.Literals(["active", "readonly", "closed", "deleting", "held", "deleted", "empty"])
export type ArchivePhase = typeof ArchivePhase.Type
export const Recipients = Schema.Literals(["owner", "owner_superadmins"])
export type Recipients = typeof Recipients.Type

/** The organization's seats, as counts of accounts. */
export const seatCounts = {
  limit: described(Count, "Seats that the organization has."),
  used: described(Count, "Seats held by accounts that are protected or paused."),
  reserved: described(Count, "Seats held by sign-up links that have not been used."),
  free: described(Count, "Seats that are left.")
}

export const Organization = Schema.Struct({
  object: Kind("organization"),
  id: described(OrganizationId, "The organization's id: what an admin types at sign-in, such as `acme`."),
  name: described(Schema.String, "The organization's name."),
  status: described(OrganizationStatus, "`active`, `pending` until it is licensed, or `suspended`."),
  valid_until: described(
    Schema.NullOr(Timestamp),
    "When a licence by agreement ends; null where it is open-ended, and where the organization is billed."
  ),
  protection_active: described(Schema.Boolean, "Whether the organization is active with a live licence or trial."),
  plan: described(
    Schema.Struct({
      billing_state: described(BillingState, "`retry` while a payment that failed is tried again."),
      managed: described(Schema.Boolean, "Whether the plan is billed; false where it is licensed by agreement."),
      plan: described(Schema.NullOr(Tier), "The plan's tier; null in a trial and without a paid plan."),
      period: described(Schema.NullOr(Period), "How often the plan is billed; null without a paid plan."),
      licences: described(
        Schema.NullOr(Schema.Struct({
          protect: described(Count, "Licences of the tier `protect`."),
          archive: described(Count, "Licences of the tier `archive`."),
          governance: described(Count, "Licences of the tier `governance`.")
        })),
        "The licences that were bought, by tier; null without a paid plan."
      )
    }),
    "What the organization has bought."
  ),
  seats: described(Schema.Struct(seatCounts), "How many accounts the organization may protect."),
  archive: described(
    Schema.Struct({
      key_set: described(Schema.Boolean, "Whether the archive password is set; nothing is archived before it is."),
      plan: described(Schema.Boolean, "Whether the plan includes the archive."),
      readable: described(Schema.Boolean, "Whether the archive can be read now."),
      writable: described(Schema.Boolean, "Whether the archive takes new records now."),
      phase: described(ArchivePhase, "The archive's phase; `held` is a legal hold.")
    }),
    "The organization's archive."
  ),
  tamper_lockdown_enabled: described(
    Schema.Boolean,
    "What a detected takeover does: true signs the account's other sessions out, false only alerts."
  )
}).annotate({ identifier: "organization" })
export type Organization = typeof Organization.Type

export const NotificationSettings = Schema.Struct({
  object: Kind("notification_settings"),
  recipients: described(Recipients, "`owner` alone, or `owner_superadmins`: the owner and every superadmin.")
}).annotate({ identifier: "notification_settings" })

/** The facts of an organization that an operator changes. */
export interface LicensedFacts {
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
}

/** The stored facts of an organization; everything that it shows is derived from them and the time. */
export interface OrganizationFacts extends LicensedFacts {
  readonly id: OrganizationId
  /** The reason that it is suspended; null where it is not. */
  readonly suspend_reason: "operator" | "licence" | null
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

/** The stored facts of a subscription, apart from the organization's. */
export interface BillingFacts {
  readonly cancel_at: Date | null
  readonly current_period_ends_at: Date | null
  readonly amount_minor: number | null
  readonly currency: string | null
  readonly payer_email: string | null
  readonly next_invoice_at: Date | null
}

/** An organization as the operator of the service sees it. */
export interface OrganizationSummary extends LicensedFacts, BillingFacts {
  readonly id: OrganizationId
  readonly seats_used: number
  readonly seats_reserved: number
  readonly simulated: boolean
  readonly created_at: Date
  /** Its name in the tz database. */
  readonly time_zone: string
  readonly archive_held_at: Date | null
}

/** The fields of an organization that an operator may change. */
export type OrganizationChanges = Partial<
  & LicensedFacts
  & Pick<OrganizationFacts, "archive_plan_ended_at" | "storage_limit_bytes" | "suspend_reason">
  & BillingFacts
  & Pick<OrganizationSummary, "time_zone">
  & { readonly suspended_at: Date | null }
>

const passed = (moment: Date | null, now: Date): boolean => moment !== null && now.getTime() >= moment.getTime()

/** The facts that decide whether there is a licence. */
export type LicenceFacts = Pick<
  OrganizationFacts,
  "billing_state" | "managed" | "status" | "trial_ends_at" | "valid_until"
>

const licenceLive = (facts: LicenceFacts, now: Date): boolean =>
  facts.managed
    ? facts.billing_state === "active" || facts.billing_state === "retry" ||
      facts.billing_state === "trial" && !passed(facts.trial_ends_at, now)
    : !passed(facts.valid_until, now)

/** An active organization with a live licence or trial (section 2.2). */
export const isProtectionActive = (facts: LicenceFacts, now: Date): boolean =>
  facts.status === "active" && licenceLive(facts, now)

/** The plan that is paid for, by subscription or by agreement: null in a trial and after the subscription lapsed. */
export const paidPlan = (facts: OrganizationFacts): Tier | null =>
  !facts.managed || facts.billing_state === "active" || facts.billing_state === "retry" ? facts.plan : null

/** True if the plan names the archive, in force or not; a trial includes it. */
export const planHasArchive = (facts: OrganizationFacts): boolean =>
  facts.managed && facts.billing_state === "trial" || facts.plan !== null && facts.plan !== "protect"

/** True if a licence includes the archive now. A suspension by an operator ends none, and keeps everything. */
const licenceHasArchive = (facts: OrganizationFacts, now: Date): boolean =>
  licenceLive(facts, now) && planHasArchive(facts)

/**
 * The changes that follow from other facts: since when no licence has the archive, where the plan has lost it or a
 * licence has it again, and that a licence makes an organization active which waited for one.
 */
export const consequences = (
  facts: OrganizationFacts,
  after: OrganizationFacts,
  at: Date
): Partial<OrganizationChanges> => ({
  ...(facts.archive_plan_ended_at !== null
    ? licenceHasArchive(after, at) ? { archive_plan_ended_at: null } : {}
    : planHasArchive(facts) && !planHasArchive(after)
    ? { archive_plan_ended_at: at }
    : {}),
  ...((facts.status === "pending" || facts.suspend_reason === "licence") &&
      isProtectionActive({ ...after, status: "active" }, at)
    ? { status: "active", suspended_at: null, suspend_reason: null }
    : {})
})

/**
 * The changes of an organization by time alone: a trial that is over lapses, and a licence that has ended 30 days ago
 * suspends it; null where nothing does.
 */
export const endedByTime = (facts: OrganizationFacts, now: Date): OrganizationChanges | null => {
  if (facts.closed_at !== null) return null
  if (facts.managed && facts.billing_state === "trial" && passed(facts.trial_ends_at, now)) {
    const lapsed = { billing_state: "lapsed" } as const
    return { ...lapsed, ...consequences(facts, { ...facts, ...lapsed }, now) }
  }
  if (facts.managed || facts.status !== "active" || facts.valid_until === null) return null
  return passed(after(facts.valid_until, licenceEndKept), now)
    ? { status: "suspended", suspended_at: now, suspend_reason: "licence" }
    : null
}

/** True if the archive is included now: the plan has it and the licence is live. */
export const includesArchive = (facts: OrganizationFacts, now: Date): boolean =>
  isProtectionActive(facts, now) && planHasArchive(facts)

/** The archive's phase, first match wins (specification, section 12.3). */
export const archivePhase = (facts: OrganizationFacts, now: Date): ArchivePhase => {
  if (facts.archive_deletion_started_at !== null && facts.archive_deleted_at === null) return "deleting"
  if (facts.archive_first_record_at === null) return facts.archive_deleted_at === null ? "empty" : "deleted"
  if (facts.archive_held_at !== null) return "held"
  if (includesArchive(facts, now)) return "active"
  const end = archiveEnd(facts.archive_plan_ended_at)
  if (end === null || now < end.closesAt) return "readonly"
  return now < end.deletesAt ? "closed" : "deleting"
}

/** True if the archive's end is still to be set: no licence has it any more, by the state of its billing or by time. */
export const isArchiveEndDue = (facts: OrganizationFacts, now: Date): boolean =>
  facts.closed_at === null && facts.archive_plan_ended_at === null && !licenceHasArchive(facts, now) &&
  archivePhase(facts, now) === "readonly"

/** True if the archive's phase accepts new records, whatever the key's state. */
export const phaseIsWritable = (facts: OrganizationFacts, now: Date): boolean => {
  const phase = archivePhase(facts, now)
  const plan = includesArchive(facts, now)
  return phase === "active" || (phase === "empty" || phase === "deleted" || phase === "held") && plan
}

/** True unless the archive is closed, is being deleted, or was: only an archive that may hold something is read. */
export const isArchiveOpen = (facts: OrganizationFacts, now: Date): boolean => {
  const phase = archivePhase(facts, now)
  return phase !== "closed" && phase !== "deleting" && phase !== "deleted"
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
