/** An account's protection status: it follows only from facts and the time (specification, section 3.1). */
import { Schema } from "effect"
import { takeoverWindow } from "../Limits.ts"
import { after } from "../Moments.ts"
import { canSignOut } from "../protection/Deadline.ts"

export const AccountStatus = Schema.Literals([
  "protected",
  "new_sign_in",
  "recently_connected",
  "hijack_blocked",
  "status_unknown",
  "protection_stopped",
  "paused",
  "available"
]).annotate({ identifier: "account_status" })
export type AccountStatus = typeof AccountStatus.Type

export const MonitoringState = Schema.Literals(["active", "unknown", "stopped"])

/** The reason that protection stopped. */
export const StopReason = Schema.Literals([
  "session_lost",
  "licence",
  "organization_suspended",
  "account_deleted_by_platform"
])
export type StopReason = typeof StopReason.Type

/** The facts that the status is derived from. */
export interface StatusFacts {
  readonly offboarded_at: Date | null
  readonly paused_at: Date | null
  readonly stopped_at: Date | null
  readonly monitoring_state: typeof MonitoringState.Type
  readonly takeover_stopped_at: Date | null
  readonly resumed_at: Date | null
  /** A session that is neither the service's own nor approved has a review deadline. */
  readonly review_pending: boolean
  readonly connected_at: Date | null
  readonly enforcement_active_at: Date | null
}

/** A status, and until when it holds while no fact changes; null for until one does. */
export interface StatusPeriod {
  readonly status: AccountStatus
  readonly until: Date | null
}

const isAfter = (moment: Date, other: Date | null): boolean => other === null || moment.getTime() > other.getTime()

const lasting = (status: AccountStatus): StatusPeriod => ({ status, until: null })

/** The status at `now`, by the first rule that holds (specification, section 3.1), and until when. */
export const statusAt = (facts: StatusFacts, now: Date): StatusPeriod => {
  if (facts.offboarded_at !== null) return lasting("available")
  if (facts.paused_at !== null) return lasting("paused")
  if (facts.stopped_at !== null) return lasting("protection_stopped")
  if (facts.monitoring_state === "unknown") return lasting("status_unknown")
  if (facts.takeover_stopped_at !== null && isAfter(facts.takeover_stopped_at, facts.resumed_at)) {
    const until = after(facts.takeover_stopped_at, takeoverWindow)
    if (now.getTime() < until.getTime()) return { status: "hijack_blocked", until }
  }
  if (facts.review_pending) return lasting("new_sign_in")
  if (
    facts.connected_at !== null &&
    isAfter(facts.connected_at, facts.resumed_at) &&
    facts.enforcement_active_at !== null &&
    !canSignOut(facts.enforcement_active_at, now)
  ) {
    return { status: "recently_connected", until: facts.enforcement_active_at }
  }
  return lasting("protected")
}

/** The status at `now`. */
export const deriveStatus = (facts: StatusFacts, now: Date): AccountStatus => statusAt(facts, now).status

/** The status from `now` on, one period after the other; the last one has no end. */
export const statusPeriods = (
  facts: StatusFacts,
  now: Date
): readonly [StatusPeriod, ...ReadonlyArray<StatusPeriod>] => {
  const period = statusAt(facts, now)
  return period.until === null ? [period] : [period, ...statusPeriods(facts, period.until)]
}

/** The facts after a pause: what was under review waits for the resume. */
export const paused = (now: Date) =>
  ({ paused_at: now, monitoring_state: "stopped", review_pending: false }) as const satisfies Partial<StatusFacts>

/** The facts after a resume: whatever was before no longer shows. */
export const resumed = (now: Date) =>
  ({ paused_at: null, resumed_at: now, stopped_at: null, monitoring_state: "active" }) as const satisfies Partial<
    StatusFacts
  >

export const offboarded = (now: Date) =>
  ({
    offboarded_at: now,
    paused_at: null,
    stopped_at: null,
    monitoring_state: "stopped",
    review_pending: false
  }) as const satisfies Partial<
    StatusFacts
  >

/** True if protection watches the account now: what is not watched is neither judged nor signed out. */
export const isWatched = (
  { offboarded_at, paused_at, stopped_at }: Pick<StatusFacts, "offboarded_at" | "paused_at" | "stopped_at">
): boolean => offboarded_at === null && paused_at === null && stopped_at === null

/** The statuses that end by the passing of time. */
export const endedByTime: ReadonlyArray<AccountStatus> = ["hijack_blocked", "recently_connected"]

/** The statuses that begin by the passing of time. */
export const reachedByTime: ReadonlyArray<AccountStatus> = ["new_sign_in", "recently_connected", "protected"]

/** Neither paused nor offboarded: what `pause_protection` accepts. */
export const isActive = (status: AccountStatus): boolean => status !== "paused" && status !== "available"
