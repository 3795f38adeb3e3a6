/**
 * The accounts that are due, across organizations: a process that polls one takes it first, and gives it back with the
 * next time.
 */
import { Context, type Effect } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import type { LockedAccountRef } from "../accounts/AccountLock.ts"

/** An account that is held to be polled, with what a poll that finds nothing new needs to know. */
export interface ClaimedAccount extends LockedAccountRef {
  /** The service's main session; null where there is none. */
  readonly main: { readonly id: string; readonly session_ref: SessionRef } | null
  /** The digest of the stored list of sessions; null before the first poll. */
  readonly seen_mark: string | null
  /** The time since when the poll is due. */
  readonly next_at: Date
  readonly due_at: Date | null
  readonly look_at: Date | null
  readonly last_ok_at: Date | null
  readonly failures: number
  /** The reason that the last poll failed; null where it did not. */
  readonly last_poll_error: string | null
}

/** A poll that found nothing new. */
export interface QuietPoll extends LockedAccountRef {
  readonly next_at: Date
}

/** The poll that a push triggers. */
export interface PushedPoll {
  /** The time when the account is due. */
  readonly at: Date
  /** True if more than its sessions is to be read. */
  readonly look: boolean
}

export interface ClaimLimits {
  /** The slots whose accounts may be taken. */
  readonly slots: ReadonlySet<Slot>
  /** The most accounts that are taken. */
  readonly free: number
  /** Of one organization no more than this while others wait. */
  readonly room: number
  /** The most of organizations that have less room. */
  readonly rooms: ReadonlyMap<string, number>
}

/** The accounts that were taken, and when something else than a poll is due next. */
export interface ClaimResult {
  readonly accounts: ReadonlyArray<ClaimedAccount>
  /** A moment in the past belongs to an account that is held already, or that this claim took. */
  readonly pressing: Date | null
}

/** A session on the messenger that is open, and whose it is. */
export interface OpenSession extends Pick<LockedAccountRef, "accountId" | "organizationId"> {
  readonly ref: SessionRef
}

/** The monitors of all organizations; two processes never hold one account. */
export class Monitors extends Context.Service<Monitors, {
  /**
   * Takes accounts that are due: first what is urgent and deadlines that have come, then by how long they are due;
   * those for which an organization has no room come last. Fewer than `free` are all of them.
   */
  claim(wanted: ClaimLimits): Effect.Effect<ClaimResult, ServiceUnavailable>
  /** Gives the accounts back; what an operation requested in the meantime stays. */
  finish(looks: ReadonlyArray<QuietPoll>): Effect.Effect<void, ServiceUnavailable>
  /** The time when the next account is due; null where none is watched. */
  readonly nextDue: Effect.Effect<Date | null, ServiceUnavailable>
  /** Makes the accounts of pushes due. */
  push(
    accounts: ReadonlyArray<Pick<LockedAccountRef, "accountId" | "organizationId">>,
    wanted: PushedPoll
  ): Effect.Effect<void, ServiceUnavailable>
  /** The main sessions of watched accounts of the slots, at most so many: those with the earliest deadline first. */
  sessions(slots: ReadonlySet<Slot>, limit: number): Effect.Effect<ReadonlyArray<OpenSession>, ServiceUnavailable>
  /** The unused ones: their account is not watched, or has others. */
  unwatched(open: ReadonlyArray<OpenSession>): Effect.Effect<ReadonlyArray<SessionRef>, ServiceUnavailable>
}>()("org-security-console/ports/protection/Monitors") {}
