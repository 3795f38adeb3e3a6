/** The context that the implementation of an operation is given, and the answers of a write. */
import type { Effect } from "effect"
import type { FurtherEntry, Target } from "../changes/Record.ts"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { JournalAction } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { Caller } from "../domain/people/Access.ts"
import type * as Live from "../messenger/AccountSession.ts"
import type { ArchiveKey } from "../ports/archive/ArchiveKeys.ts"
import type { Unlocked } from "../ports/archive/ArchiveUnlock.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"

/** The facts that the kernel has when it runs an operation. */
export interface RequestContext {
  readonly caller: Caller["Service"]
  readonly now: Date
  /** The account of the path; undefined where the operation is about none. */
  readonly account: AccountFacts | undefined
}

/** The context of a guarded operation: with its account. */
export interface GuardedContext extends RequestContext {
  readonly account: AccountFacts
}

/** Besides, the account's live session, through which it may be changed. */
export interface MessengerContext extends GuardedContext {
  readonly live: Live.AccountReader & Live.LiveWriter
}

/** The context of an implementation, besides its input. */
export interface ReadContext<Params, Found = AccountFacts> extends Omit<RequestContext, "account"> {
  readonly account: Params extends { readonly account_id: unknown } ? Found : undefined
}

/** Besides, the account's live session. */
export interface LiveReading<Params> extends ReadContext<Params> {
  readonly live: Live.AccountReader
}

/** Besides, the opened archive. */
export interface UnlockedContext<Params> extends ReadContext<Params> {
  readonly archive: Unlocked
}

/** Commits a change with its journal entries, or nothing of it. */
export type Commit = <A, E, R>(
  change: Effect.Effect<Outcome<A>, E, R>
) => Effect.Effect<A, E | ServiceUnavailable, R | Journal | Outbox>

/** Besides, what commits the change of what was opened. */
export interface RewriteContext<Params> extends UnlockedContext<Params> {
  readonly commit: Commit
}

/** Besides, the archive's key pair. */
export interface SealedContext<Params> extends ReadContext<Params> {
  readonly key: ArchiveKey
}

/** Something is to be done. */
export interface NeededChange<P> {
  readonly changed: true
  readonly plan: P
}

/** Nothing is to be done: the answer is the same, and no journal entry is left. */
export interface Unchanged<A> {
  readonly changed: false
  readonly answer: A
}

/** The change is only stored, and carried out later by the engine. */
export interface Stored<A, R> {
  readonly changed: "stored"
  readonly answer: A
  readonly journal: JournalAction
  readonly details: JournalDetails
  readonly targetId?: string
  readonly write: Effect.Effect<void, never, R>
}

/** The findings of a check. */
export type CheckResult<P, A, R> = NeededChange<P> | Stored<A, R> | Unchanged<A>

export const planned = <P>(plan: P): NeededChange<P> => ({ changed: true, plan })
export const stored = <A, R>(what: Omit<Stored<A, R>, "changed">): Stored<A, R> => ({ changed: "stored", ...what })

/** The outcome of a write: a change that changes nothing leaves no journal entry. */
export type Outcome<A> =
  | {
    readonly changed: true
    readonly answer: A
    readonly details: JournalDetails
    readonly target: string | Target | undefined
    /**
     * Appended after the declared entry, in this order; each of them is one statement, which travels with the COMMIT.
     */
    readonly more: ReadonlyArray<FurtherEntry>
    /** The mails because of the declared entry. */
    readonly mails: ReadonlyArray<Mail>
  }
  | Unchanged<A>

export const changed = <A>(
  answer: A,
  details: JournalDetails = {},
  target?: string | Target,
  more: ReadonlyArray<FurtherEntry> = [],
  mails: ReadonlyArray<Mail> = []
): Outcome<A> => ({
  changed: true,
  answer,
  details,
  target,
  more,
  mails
})
export const unchanged = <A>(answer: A): Unchanged<A> => ({ changed: false, answer })
