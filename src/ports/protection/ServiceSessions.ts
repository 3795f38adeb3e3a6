/** The service's second session of an account, which takes over when the first one is lost. */
import { Context, type Effect } from "effect"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import type { SecretsOf } from "../security/Secrets.ts"

/** A session of the service besides the main one. */
export interface SecondSession {
  readonly id: string
  readonly slot: "paired" | "pairing"
  readonly session_ref: SessionRef
  readonly seen_as: string | null
  /** The platform's own time of its sign-in. */
  readonly created_at: Date
}

/** A session that is to be logged out, and until when that is tried. */
export interface RetiredSession {
  readonly id: string
  readonly session_ref: SessionRef
  readonly erase_at: Date | null
  /** The intent of a log-out that was tried and whose outcome is not known. */
  readonly log_out_intent: number | null
}

/** A new session; where its id in the main session's list is unknown, it is recognised by its age. */
export interface NewSession {
  readonly seenAs: string | null
  readonly createdAt: Date
}

/** Within the caller's transaction unless stated otherwise. */
export class ServiceSessions extends Context.Service<ServiceSessions, {
  /** A reference under which a session can be made. */
  readonly newRef: Effect.Effect<SessionRef>
  /** The paired session, and one that may have come about. */
  second(of: SecretsOf): Effect.Effect<ReadonlyArray<SecondSession>>
  /** Records that a session is about to be made; one that was begun before is abandoned. */
  begin(of: SecretsOf, ref: SessionRef, now: Date): Effect.Effect<void>
  /** The session has come about: it is watched as the service's own from now on. */
  paired(of: SecretsOf, ref: SessionRef, paired: NewSession, now: Date): Effect.Effect<void>
  /** The session has not come about. */
  drop(of: SecretsOf, ref: SessionRef): Effect.Effect<void>
  /** Nobody finds out any more whether a session that was begun has come about: it is logged out where it has. */
  abandon(of: SecretsOf, now: Date): Effect.Effect<void>
  /**
   * Leaves the account: its person may be connected again, its tasks are dropped, and its sessions are no longer used.
   * Each is logged out from `due` on, or forgotten after a month.
   */
  leave(of: SecretsOf, at: { readonly due: Date; readonly now: Date }): Effect.Effect<void>
  /** Those that are not used any more. */
  retired(of: SecretsOf): Effect.Effect<ReadonlyArray<RetiredSession>>
  /** One of them is being logged out by this intent; null where it certainly was not. */
  trying(of: SecretsOf, id: string, intent: number | null): Effect.Effect<void>
  /** They are logged out, or no longer tried. */
  forget(of: SecretsOf, ids: ReadonlyArray<string>): Effect.Effect<void>
  /** There is no paired session any more. */
  remove(of: SecretsOf, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/protection/ServiceSessions") {}
