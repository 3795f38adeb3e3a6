/** The stored facts of an account's protection: all that the engine decides on, besides what it observes. */
import { type Duration, Schema } from "effect"
import type { AccountFacts, AccountId } from "../accounts/Account.ts"
import type { Authorization } from "../messenger/Messenger.ts"
import type { SessionFacts, Termination } from "../sessions/Session.ts"
import type { ServiceSession } from "./ServiceSession.ts"

/** The reason of a sign-out; a `lock` has brought its deadline forward, which `autokill` is otherwise. */
export type EndingReason = NonNullable<Termination["reason"]> | "lock"

export type { StopReason } from "../accounts/ProtectionStatus.ts"

/** A session as it is stored: what the API shows, and what the engine keeps about it. */
export interface WatchedSession extends SessionFacts {
  readonly record_id: string
  /** The time when a pause withheld a sign-out that was queued. */
  readonly withheld_at: Date | null
  readonly withheld_reason: EndingReason | null
  /** The reason that it is signed out, its time, and the admin who wants it; null where nothing is to be signed out. */
  readonly ending_reason: EndingReason | null
  readonly ending_at: Date | null
  readonly ending_by: string | null
  /** The sequence of the journal's intent, once the sign-out may have been sent. */
  readonly ending_intent: number | null
}

/** The part of the account's row that is decided on. */
export interface GuardedAccount extends
  Pick<
    AccountFacts,
    | "phone_number"
    | "first_name"
    | "last_name"
    | "username"
    | "recovery"
    | "offboarded_at"
    | "paused_at"
    | "resumed_at"
    | "stopped_at"
    | "monitoring_state"
    | "takeover_stopped_at"
    | "enforcement_active_at"
    | "locked_at"
    | "lock_reason"
    | "security_lock"
    | "paired_state"
    | "paired_since"
    | "paired_error"
  >
{
  readonly id: AccountId
  /** True if the sessions that were there before the service are marked as such. */
  readonly baselined: boolean
  /** True if the service holds the account's 2FA password. */
  readonly two_fa_managed: boolean
  /** A login of the service itself into this account is open: the codes that the platform sends are its own. */
  readonly login_open: boolean
}

/** The course of the account's polls. */
export interface MonitorFacts {
  /** The time when monitoring last became active. */
  readonly started_at: Date | null
  readonly last_ok_at: Date | null
  readonly last_poll_error: string | null
  readonly failures: number
  readonly first_failure_at: Date | null
  readonly flood_until: Date | null
  readonly sign_out_retry_at: Date | null
  readonly look_at: Date | null
}

/** A recovery address as far as it can be seen; the pattern only where the service holds the 2FA password. */
const Recovery = Schema.Struct({
  present: Schema.Boolean,
  pending: Schema.NullOr(Schema.String),
  pattern: Schema.NullOr(Schema.String)
})

/**
 * The last reading of the things that raise signals, as it is kept in JSON.
 *
 * A member that is absent is not known: the next reading adopts what it sees and raises no signal.
 */
export const Facets = Schema.Struct({
  /** The mark of the 2FA password; null without one. */
  two_fa: Schema.optionalKey(Schema.NullOr(Schema.String)),
  recovery: Schema.optionalKey(Recovery),
  /** Masked; null without one. */
  login_email: Schema.optionalKey(Schema.NullOr(Schema.String)),
  phone: Schema.optionalKey(Schema.NullOr(Schema.String)),
  passkeys: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The time when a requested reset of the 2FA password takes effect; null without one. */
  reset_at: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** None of the 2FA passwords that the service holds is the account's, which has been reported. */
  two_fa_lost: Schema.optionalKey(Schema.Boolean),
  /** The time when each attempt to sign in was first seen, by its id; kept for 24 hours. */
  attempts: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** The time when a session of the service was revoked, until a good poll has judged it. */
  revoked_at: Schema.optionalKey(Schema.String),
  /** The time when a stranger was last listed whose session has ended. */
  stranger_at: Schema.optionalKey(Schema.String),
  /** The signal of a takeover whose sessions are still to be signed out. */
  takeover: Schema.optionalKey(Schema.String),
  /** That the account is unknown was not reported, because its organization was notified that the messenger is away. */
  away: Schema.optionalKey(Schema.Boolean),
  /** It was reported among many unwatched accounts, and its organization is notified when they are back. */
  silent: Schema.optionalKey(Schema.Boolean),
  /** The own session that read the last list, by the id of its row: another one may see other ids. */
  through: Schema.optionalKey(Schema.String)
})
export type Facets = typeof Facets.Type

/** All that is stored and decided on, read and locked in one transaction. */
export interface ProtectionFacts {
  /** The organization's `tamper_lockdown_enabled`. */
  readonly lockdown: boolean
  /** True if the organization has been notified that the messenger is away. */
  readonly away: boolean
  readonly account: GuardedAccount
  readonly sessions: ReadonlyArray<WatchedSession>
  readonly own: ReadonlyArray<ServiceSession>
  readonly monitor: MonitorFacts
  readonly facets: Facets
  /** The end of each session that another party ended in the last ten minutes. */
  readonly endedOutside: ReadonlyArray<Date>
}

/**
 * The names that the service's sessions give themselves; others can copy them, so that they are never sufficient alone.
 */
export type ServiceSessionDevice = Pick<Authorization, "device_model" | "platform" | "app_name">

/** The operator's settings, and the names that the service gives itself. */
export interface DecideOptions {
  readonly reviewWindow: Duration.Duration
  readonly device: ServiceSessionDevice
}
