/** An account's protection status: derived from facts and the time, never stored (specification, section 3.1). */
import { Duration, Schema } from "effect"
import { takeoverWindow } from "./Limits.ts"

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

/** What the status is derived from. */
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

const after = (moment: Date, other: Date | null): boolean => other === null || moment.getTime() > other.getTime()

/** The status at `now`: the first rule that holds (specification, section 3.1). */
export const deriveStatus = (facts: StatusFacts, now: Date): AccountStatus => {
  if (facts.offboarded_at !== null) return "available"
  if (facts.paused_at !== null) return "paused"
  if (facts.stopped_at !== null) return "protection_stopped"
  if (facts.monitoring_state === "unknown") return "status_unknown"
  if (
    facts.takeover_stopped_at !== null &&
    after(facts.takeover_stopped_at, facts.resumed_at) &&
    now.getTime() < facts.takeover_stopped_at.getTime() + Duration.toMillis(takeoverWindow)
  ) {
    return "hijack_blocked"
  }
  if (facts.review_pending) return "new_sign_in"
  if (
    facts.connected_at !== null &&
    after(facts.connected_at, facts.resumed_at) &&
    facts.enforcement_active_at !== null &&
    now.getTime() < facts.enforcement_active_at.getTime()
  ) {
    return "recently_connected"
  }
  return "protected"
}

/** Neither paused nor offboarded: what `pause_protection` accepts. */
export const isActive = (status: AccountStatus): boolean => status !== "paused" && status !== "available"
