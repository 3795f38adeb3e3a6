/** Turns something that happened into an entry of the journal. */
import type { Via } from "../people/Access.ts"
import type { Actor } from "./Actor.ts"
import type { JournalDetails, JournalEvent, JournalOutcome } from "./JournalEvent.ts"

/** An entry's content before the journal gives it its place in the chain. */
export type JournalEntry = Omit<JournalEvent, "object" | "id" | "sequence" | "at" | "prev_hash" | "hash">

/** The kinds of objects that an event may be about. */
export type TargetType =
  | "account"
  | "admin"
  | "ai_connection"
  | "api_key"
  | "application"
  | "archive_cleanup"
  | "archive_export"
  | "archive_hold"
  | "archive_rule"
  | "checkpoint_key"
  | "department"
  | "email_change"
  | "login"
  | "organization"
  | "session"
  | "sign_up_link"
  | "subscription"
  | "support_request"

/** An action as it is declared, once: its name, and what it is done to. */
export interface JournalAction {
  /** `object.verb` in the past tense. */
  readonly action: string
  readonly target: TargetType
}

/**
 * Every action that something other than one operation alone writes: pages, commands, the authorization server and the
 * service itself. An operation that writes one of them refers to it; any other action is declared with its operation.
 */
const targets = {
  "account.archive_consent_set": "account",
  "account.connected": "account",
  "account.reconnected": "account",
  "account.tier_set": "account",
  "admin.created": "admin",
  "admin.disabled": "admin",
  "admin.enabled": "admin",
  "admin.identity_linked": "admin",
  "admin.identity_unlinked": "admin",
  "admin.invitation_resent": "admin",
  "admin.joined": "admin",
  "admin.password_set": "admin",
  "admin.role_set": "admin",
  "admin.set": "admin",
  "ai_connection.revoked": "ai_connection",
  "api_key.created": "api_key",
  "api_key.expired": "api_key",
  "api_key.revoked": "api_key",
  "application.approval_set": "organization",
  "application.approved": "application",
  "application.withdrawn": "application",
  "archive.deleted": "organization",
  "archive.deletion_started": "organization",
  "archive.drifted": "account",
  "archive.held": "organization",
  "archive.manifested": "organization",
  "archive.phase_changed": "organization",
  "archive.read": "account",
  "archive.released": "organization",
  "archive.searched": "organization",
  "archive.unreadable": "account",
  "archive_export.downloaded": "archive_export",
  "archive_key.set": "organization",
  "archive_password.failed": "organization",
  "archive_retention.applied": "organization",
  "authorization_code.reused": "ai_connection",
  "backup.failed": "account",
  "backup.finished": "account",
  "checkpoint_key.changed": "checkpoint_key",
  "cleanup.cancelled": "archive_cleanup",
  "cleanup.confirmed": "archive_cleanup",
  "cleanup.finished": "archive_cleanup",
  "cleanup.failed": "archive_cleanup",
  "cleanup.scheduled": "archive_cleanup",
  "console.signed_in": "admin",
  "console.signed_out": "admin",
  "console_password.failed": "admin",
  "identity_provider.removed": "organization",
  "identity_provider.set": "organization",
  "login.attempted": "account",
  "login.cancelled": "login",
  "login.completed": "login",
  "login.expired": "login",
  "login.failed": "login",
  "login.started": "login",
  "monitoring.failed_over": "account",
  "monitoring.lost": "account",
  "monitoring.restored": "account",
  "oauth.connected": "ai_connection",
  "organization.activated": "organization",
  "organization.closed": "organization",
  "organization.created": "organization",
  "organization.reopened": "organization",
  "organization.set": "organization",
  "organization.suspended": "organization",
  "ownership.transferred": "admin",
  "outside_change.detected": "account",
  "paired_session.created": "account",
  "paired_session.lost": "account",
  "passkey.removed": "account",
  "password_reset.link_made": "admin",
  "password_reset.requested": "admin",
  "protection.restored": "account",
  "protection.stopped": "account",
  "recovery_code.used": "admin",
  "recovery_codes.renewed": "admin",
  "recovery_email.cancelled": "account",
  "refresh_token.reused": "ai_connection",
  "second_factor.added": "admin",
  "second_factor.failed": "admin",
  "second_factor.removed": "admin",
  "second_factor.reset": "admin",
  "session.autokilled": "session",
  "session.detected": "session",
  "session.ended": "session",
  "session.logged_out": "account",
  "session.signed_out": "session",
  "sign_up_link.revoked": "sign_up_link",
  "storage.almost_full": "organization",
  "support_request.answered": "support_request",
  "support_request.closed": "support_request",
  "takeover.detected": "account",
  "takeover.lock_expired": "account",
  "takeover.stopped": "account",
  "two_fa.erased": "account",
  "two_fa.lost": "account",
  "two_fa.removed": "account",
  "two_fa.revealed": "account",
  "two_fa.set": "account"
} as const satisfies Record<string, TargetType>

/** The name of an action of the table. */
export type ActionName = keyof typeof targets

/** The names of the table. */
export const actionNames: ReadonlyArray<string> = Object.keys(targets)

/** An action of the table. */
export const journalAction = (name: ActionName): JournalAction => ({ action: name, target: targets[name] })

export interface EntryOrigin {
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
}

/** The service itself, in background work. */
export const background: EntryOrigin = { via: "background", ip: null, requestId: null }
/** An operator's command. */
export const commandLine: EntryOrigin = { via: "cli", ip: null, requestId: null }

export interface EntryFacts {
  readonly targetId: string
  /** The account that it concerns. */
  readonly accountId?: string | null
  /** `done` by default. */
  readonly outcome?: JournalOutcome
  readonly details?: JournalDetails
  /** The sequence of the intent that it completes. */
  readonly closes?: number
}

/** The entry of what an actor did from a place. */
export const journalEntry = (
  actor: Actor,
  { ip, requestId, via }: EntryOrigin,
  { action, target }: JournalAction,
  { accountId = null, closes, details = {}, outcome = "done", targetId }: EntryFacts
): JournalEntry => ({
  action,
  outcome,
  actor: actor.type === "admin"
    ? { type: "admin", admin_id: actor.adminId, name: actor.name }
    : { type: actor.type, admin_id: null, name: null },
  credential: actor.type === "admin" || actor.type === "service" ? actor.credential : null,
  via,
  account_id: accountId,
  target: { type: target, id: targetId },
  details,
  ip,
  request_id: requestId,
  closes: closes ?? null
})
