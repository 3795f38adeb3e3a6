/** The rules of the interface for organizations, written by hand. */
import type { OrganizationRow } from "./rows.ts"

const day = 86_400_000
const readonlyPeriod = 30 * day
const closedPeriod = 60 * day

const hasPassed = (moment: string | null, now: string) => moment !== null && now >= moment

const isLive = (row: OrganizationRow, now: string) =>
  row.managed
    ? row.billing_state === "active" || row.billing_state === "retry" ||
      (row.billing_state === "trial" && !hasPassed(row.trial_ends_at, now))
    : !hasPassed(row.valid_until, now)

export const isProtectionActive = (row: OrganizationRow, now: string) => row.status === "active" && isLive(row, now)

export const paidPlan = (row: OrganizationRow) =>
  !row.managed || row.billing_state === "active" || row.billing_state === "retry" ? row.plan : null

export const planHasArchive = (row: OrganizationRow) =>
  (row.managed && row.billing_state === "trial") || (row.plan !== null && row.plan !== "protect")

const includesArchive = (row: OrganizationRow, now: string) => isProtectionActive(row, now) && planHasArchive(row)

const archivePhase = (row: OrganizationRow, now: string) => {
  if (row.archive_deletion_started_at !== null && row.archive_deleted_at === null) return "deleting"
  if (row.archive_first_record_at === null) return row.archive_deleted_at === null ? "empty" : "deleted"
  if (row.archive_held_at !== null) return "held"
  if (includesArchive(row, now)) return "active"
  if (row.archive_plan_ended_at === null) return "readonly"
  const without = Date.parse(now) - Date.parse(row.archive_plan_ended_at)
  if (without < readonlyPeriod) return "readonly"
  return without < readonlyPeriod + closedPeriod ? "closed" : "deleting"
}

export const isWritable = (row: OrganizationRow, now: string) => {
  const phase = archivePhase(row, now)
  return phase === "active" ||
    ((phase === "empty" || phase === "deleted" || phase === "held") && includesArchive(row, now))
}

export const seats = (row: OrganizationRow) => ({
  limit: row.seat_limit,
  used: row.seats_used,
  reserved: row.seats_reserved,
  free: row.seat_limit - row.seats_used - row.seats_reserved
})

export const showOrganization = (row: OrganizationRow, now: string) => {
  const phase = archivePhase(row, now)
  const plan = paidPlan(row)
  return {
    object: "organization",
    id: row.organization_id,
    name: row.organization_name,
    status: row.status,
    valid_until: row.managed ? null : row.valid_until,
    protection_active: isProtectionActive(row, now),
    plan: {
      billing_state: row.billing_state,
      managed: row.managed,
      plan,
      period: plan === null ? null : row.period,
      licences: plan === null ? null : {
        protect: row.licences_protect,
        archive: row.licences_archive,
        governance: row.licences_governance
      }
    },
    seats: seats(row),
    archive: {
      key_set: row.archive_key_set,
      plan: includesArchive(row, now),
      readable: row.archive_key_set && (phase === "active" || phase === "readonly" || phase === "held"),
      writable: row.archive_key_set && isWritable(row, now),
      phase
    },
    tamper_lockdown_enabled: row.tamper_lockdown_enabled
  }
}
