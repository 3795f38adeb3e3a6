/** The sessions of accounts, as admins review them and sign them out. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { ReviewedSession, ReviewState, StoredSession } from "../../domain/sessions/SessionReview.ts"

/** A page of sessions, one more than `limit` where more follow. */
export interface SessionQuery {
  readonly review: ReviewState | undefined
  readonly accountId: AccountId | undefined
  /** The record's id of the last session before. */
  readonly after: string | undefined
  readonly limit: number
}

/** The account whose sessions are changed; its row is locked. */
export interface SessionsAccount {
  readonly organizationId: OrganizationId
  readonly accountId: AccountId
}

/** That an admin wants sessions signed out; with an intent, that the messenger is about to be asked. */
export interface Rejection {
  readonly sessions: ReadonlyArray<string>
  readonly by: string
  readonly intent: number | null
}

/** The messenger's answers about sign-outs, by the sessions' ids. */
export interface SignOutAnswers {
  /** The service ended them. */
  readonly ended: ReadonlyArray<string>
  /** Another party had ended them: the next poll finds out who. */
  readonly gone: ReadonlyArray<string>
  /** They are still to be signed out, and the messenger has certainly not done it. */
  readonly waiting: ReadonlyArray<string>
  /** No sign-out is sent before; null where the platform refused none. */
  readonly retryAt: Date | null
}

/** Sessions; by default each function works within the operation's transaction. */
export class Sessions extends Context.Service<Sessions, {
  /**
   * The sessions of the accounts that the caller can access, without the service's own; null when `after` is none of
   * them.
   */
  list(caller: Caller["Service"], query: SessionQuery): Effect.Effect<ReadonlyArray<ReviewedSession> | null>
  /**
   * The time when sign-outs are sent to the messenger, by account: when the service's session is old enough, or the
   * messenger has asked to wait until then. Accounts without such a moment are left out.
   */
  signOutsFrom(
    organizationId: OrganizationId,
    accounts: ReadonlyArray<AccountId>
  ): Effect.Effect<ReadonlyMap<AccountId, Date>>
  find(whose: SessionsAccount, id: string): Effect.Effect<StoredSession | null>
  /** Every session of the account but the service's own, the newest first. */
  others(whose: SessionsAccount): Effect.Effect<ReadonlyArray<StoredSession>>
  /** True if an admin had the session signed out at the moment or later. */
  wasRejected(whose: SessionsAccount, id: string, since: Date): Effect.Effect<boolean>
  /** Approves the session, and takes back whatever was to be done to it. */
  approve(whose: SessionsAccount, id: string, by: string, now: Date): Effect.Effect<void>
  /** Writes down what is to be signed out, and has the account polled. */
  reject(whose: SessionsAccount, rejection: Rejection, now: Date): Effect.Effect<void>
  /**
   * True if the sign-out may still be sent, because no admin has decided otherwise since; in a transaction of its own.
   */
  maySignOut(whose: SessionsAccount, id: string): Effect.Effect<boolean, ServiceUnavailable>
  /**
   * Stores the outcomes of sign-outs. The first session that ended stops a takeover that waited for it, as in the
   * engine; then the answer says whether the service holds the account's 2FA password, and is null otherwise.
   */
  applySignOuts(
    whose: SessionsAccount,
    what: SignOutAnswers,
    now: Date
  ): Effect.Effect<{ readonly twoFaManaged: boolean } | null>
}>()("org-security-console/ports/sessions/Sessions") {}
