/** An account's protection as it is stored: what a step decides on, and what it writes. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Decision } from "../../domain/protection/Decision.ts"
import type { EndingReason, ProtectionFacts } from "../../domain/protection/Facts.ts"
import type { ServiceSession } from "../../domain/protection/ServiceSession.ts"
import type { AccountLockLost, LockedAccountRef } from "../accounts/AccountLock.ts"

/** The facts of an account that is locked and still held. */
export interface LockedAccount {
  readonly facts: ProtectionFacts
  /** The account's name in mails. */
  readonly name: string
  /** The number of changes by now to what a step relies on. */
  readonly epoch: number
  /** A login into the account with a step under way, or with a step whose result is unknown. */
  readonly login: { readonly id: string; readonly busy: boolean } | null
}

/** The rows that a step changes, and when the next one is due. */
export interface StepChanges
  extends
    Pick<Decision, "upserts" | "ended" | "account" | "monitor" | "facets">,
    Partial<Pick<Decision, "freesIdentity" | "own">>
{
  readonly dueAt: Date | null
  readonly lookAt?: Date
  /** The digest of the list that was stored; absent where none was. */
  readonly seenMark?: string
  /** Null where the account is not watched any more. */
  readonly nextAt: Date | null
  /** True if the step is over and the account given back. */
  readonly release: boolean
}

/** A sign-out that is about to be sent, as the session's row keeps it. */
export interface BegunSignOut {
  readonly sessionId: string
  readonly reason: EndingReason
  readonly by: string | null
  readonly intent: number
}

/** The reads and writes of a step about one account; within the organization's transaction unless stated otherwise. */
export class Watch extends Context.Service<Watch, {
  /** Locks the account and renews its hold; null where the account is gone. */
  lock(held: LockedAccountRef): Effect.Effect<LockedAccount | null, AccountLockLost>
  write(held: LockedAccountRef, changes: StepChanges, now: Date): Effect.Effect<void>
  /** Writes down which sessions are about to be signed out, before any is. */
  begin(held: LockedAccountRef, endings: ReadonlyArray<BegunSignOut>, now: Date): Effect.Effect<void>
  /** The own sessions of the account, in a transaction of its own. */
  own(held: LockedAccountRef): Effect.Effect<ReadonlyArray<ServiceSession>, ServiceUnavailable>
  /**
   * True if the sign-out may still be sent, because no admin has decided otherwise since; in a transaction of its own.
   */
  mayEnd(held: LockedAccountRef, sessionId: string, intent: number): Effect.Effect<boolean, ServiceUnavailable>
  /** The digest of a list's mark. */
  digest(mark: string): string
}>()("org-security-console/ports/protection/MonitorStore/Watch") {}
