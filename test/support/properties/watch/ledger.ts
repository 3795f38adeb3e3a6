/** What happened to accounts in truth, as whoever plays the world knows it. */
import type { AccountId } from "../../../../src/domain/accounts/Account.ts"
import type { AuthorizationId, MessengerUserId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import type { Asked, During } from "./plan.ts"

/** Somebody's device. */
export interface Device {
  readonly id: AuthorizationId
  readonly signedInAt: number
  /** It was signed in before the service was. */
  readonly before: boolean
  /** Somebody outside has ended it. */
  ended: boolean
  /** The service has written it down. */
  seen: boolean
}

export interface Ledger {
  readonly account: AccountId
  readonly userId: MessengerUserId
  readonly phone: string
  readonly sessionRef: SessionRef
  readonly devices: Map<string, Device>
  /** Sessions for which a sign-out was on its way. */
  readonly sent: Set<string>
  readonly asked: Set<Asked>
  readonly during: Array<During>
  /** Somebody outside has set the 2FA password since the service did. */
  theirs: boolean
  offboarded: boolean
  /** When a sign-out failed last, or something was done while one was on its way. */
  disturbedAt: number
  /** The moment since which the account is seen to be watched; null while it is not. */
  watchedSince: number | null
  /** When somebody was last seen to hold it after everything that is due was run. */
  heldAt: number
}

/** A device that the service does not own, as the messenger has it. */
export interface Alive {
  readonly user_id: MessengerUserId
  readonly id: string
  readonly own: boolean
  readonly password_pending: boolean
}

/** An account as it is stored, with its monitor. */
export interface Stored {
  readonly id: AccountId
  readonly offboarded_at: Date | null
  readonly paused_at: Date | null
  readonly resumed_at: Date | null
  readonly stopped_at: Date | null
  readonly connected_at: Date | null
  readonly monitoring_state: string
  readonly takeover_stopped_at: Date | null
  readonly enforcement_active_at: Date | null
  readonly last_ok_at: Date | null
  readonly last_polled_at: Date | null
  readonly last_poll_error: string | null
  readonly failures: number
  readonly flood_until: Date | null
  readonly busy_until: Date | null
  readonly sign_out_retry_at: Date | null
}

/** A session as it is stored. */
export interface Row {
  readonly account_id: AccountId
  readonly id: string
  readonly service: boolean
  readonly baseline: boolean
  readonly approved_at: Date | null
  readonly review_deadline: Date | null
  readonly ending_reason: string | null
}

const hours = 3_600_000

/** The status by the table of the specification (12.3), first match. */
export const statusOf = (account: Stored, rows: ReadonlyArray<Row>, now: number): string => {
  const after = (one: Date | null, other: Date | null) => one !== null && (other === null || one > other)
  if (account.offboarded_at !== null) return "available"
  if (account.paused_at !== null) return "paused"
  if (account.stopped_at !== null) return "protection_stopped"
  if (account.monitoring_state === "unknown") return "status_unknown"
  const { takeover_stopped_at: stopped } = account
  if (stopped !== null && after(stopped, account.resumed_at) && now < stopped.getTime() + 48 * hours) {
    return "hijack_blocked"
  }
  if (rows.some((row) => !row.service && row.approved_at === null && row.review_deadline !== null)) return "new_sign_in"
  const { enforcement_active_at: active } = account
  return active !== null && now < active.getTime() && after(account.connected_at, account.resumed_at)
    ? "recently_connected"
    : "protected"
}

const minutes = 60_000

/** How often the account is to be looked at (12.4): every minute, more seldom when looks have failed for long. */
export const periodOf = ({ failures, last_poll_error: error }: Stored): number => {
  if (failures > 0 && (error === "key_duplicated" || error === "no_key")) return hours
  return failures >= 10 ? 5 * minutes : minutes
}
