/** The review of sessions by admins: what is listed, approved and signed out. */
import { Schema } from "effect"
import { type AccountAction, AccountId, accountName, type MessengerNames } from "../accounts/Account.ts"
import { type AccountStatus, deriveStatus, type StatusFacts } from "../accounts/ProtectionStatus.ts"
import { described, Kind, Line, Uuid } from "../JsonShapes.ts"
import { rejectionRemembered } from "../Limits.ts"
import { before } from "../Moments.ts"
import { Session, session, type SessionFacts } from "./Session.ts"

/** The session that an operation is about, as a member of its path. */
export const TargetSession = Line(64).annotateKey({
  description: "From get_account or list_sessions."
})

export const ReviewState = Schema.Literals(["pending", "approved", "unreviewed"])
export type ReviewState = typeof ReviewState.Type

/** The id of a session's record, which stays the same for as long as the session lives. */
export const SessionRecordId = Uuid.pipe(Schema.brand("SessionRecordId"))

export const SessionReview = Schema.Struct({
  object: Kind("session_review"),
  id: described(SessionRecordId, "The record's id: a UUID, and not the messenger's id of the session."),
  account_id: described(AccountId, "The account that is signed in: a UUID."),
  account_name: described(Schema.String, "The account's name."),
  session: described(Session, "The session.")
}).annotate({ identifier: "session_review" })

/** The sessions that `sign_out_other_sessions` leaves alone. */
export const KeptSessions = Schema.Literals(["approved_and_baseline", "approved", "none"])
export type KeptSessions = typeof KeptSessions.Type

/** A session, with what is kept about signing it out. */
export interface StoredSession extends SessionFacts {
  /** True if it is to be signed out. */
  readonly ending: boolean
  /** True if that may have been sent to the messenger already. */
  readonly sent: boolean
}

/** A session with what a list shows of its account. */
export interface ReviewedSession extends SessionFacts, MessengerNames {
  readonly record_id: typeof SessionRecordId.Type
  readonly account_id: AccountId
  readonly phone_number: string
  readonly enforcement_active_at: Date | null
}

/** A session as the list of reviews shows it. */
export const sessionReview = (row: ReviewedSession, now: Date): typeof SessionReview.Type => ({
  object: "session_review",
  id: row.record_id,
  account_id: row.account_id,
  account_name: accountName(row),
  session: session(row, row.enforcement_active_at, now)
})

/** True if the session is one that the service holds itself. */
export const isServiceSession = ({ current, service }: Pick<SessionFacts, "current" | "service">): boolean =>
  service || current

/** True if an admin still has to decide about the session, or it is being signed out. */
export const awaitsReview = ({ queued_at, review_deadline }: Pick<SessionFacts, "queued_at" | "review_deadline">) =>
  review_deadline !== null || queued_at !== null

/** True if `keep` leaves the session alone. */
export const isKept = (
  { approved_at, baseline }: Pick<SessionFacts, "approved_at" | "baseline">,
  keep: KeptSessions
): boolean => keep !== "none" && (approved_at !== null || keep === "approved_and_baseline" && baseline)

/** The moment from which a rejected session that is gone still answers as signed out. */
export const rejectedSince = (now: Date): Date => before(now, rejectionRemembered)

/** The answer of an action on an account; with the status where the action changed it. */
export const acted = (
  action: string,
  before: StatusFacts & { readonly id: AccountId },
  after: StatusFacts | null,
  now: Date
): typeof AccountAction.Type => {
  const status: AccountStatus = deriveStatus(after ?? before, now)
  return {
    object: "account_action",
    account_id: before.id,
    action,
    ...(status === deriveStatus(before, now) ? {} : { status })
  }
}
