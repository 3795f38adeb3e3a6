/** What the implementation of an operation is given, and what a write answers. */
import type { Effect } from "effect"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import type { Happened, JournalAction } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { Caller } from "../domain/people/Access.ts"
import type * as Live from "../messenger/AccountSession.ts"

/** What the kernel knows when it runs an operation. */
export interface RequestContext {
  readonly caller: Caller["Service"]
  readonly now: Date
  /** The account of the path; undefined where the operation is about none. */
  readonly account: AccountFacts | undefined
}

/** What a guarded operation knows: its account. */
export interface GuardedContext extends RequestContext {
  readonly account: AccountFacts
}

/** Besides, the account's live session, through which it may be changed. */
export interface MessengerContext extends GuardedContext {
  readonly live: Live.Live & Live.LiveWriter
}

/** What an implementation knows besides its input. */
export interface ReadContext<Params, Beside = undefined> extends RequestContext {
  /** What is read together with the account, as the contract declares. */
  readonly beside: Beside
  readonly account: Params extends { readonly account_id: unknown } ? AccountFacts : undefined
}

/** Besides, the account's live session. */
export interface LiveReading<Params> extends ReadContext<Params> {
  readonly live: Live.Live
}

/** What a write journals beside the entry that its contract declares. */
export interface Further extends Happened {
  readonly journal: JournalAction
  /** What is mailed because of it. */
  readonly mails?: ReadonlyArray<Mail>
}

/** Something is to be done. */
export interface Planned<P> {
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

/** What a check finds. */
export type CheckResult<P, A, R> = Planned<P> | Stored<A, R> | Unchanged<A>

/** What a change on the messenger came to. */
export interface Settled {
  /** `done` by default. */
  readonly outcome?: "done" | "failed"
  /** In addition to the intent's details. */
  readonly details?: JournalDetails
  readonly more?: ReadonlyArray<Further>
}

export const planned = <P>(plan: P): Planned<P> => ({ changed: true, plan })
export const stored = <A, R>(what: Omit<Stored<A, R>, "changed">): Stored<A, R> => ({ changed: "stored", ...what })

/** What a write did: a change that changes nothing leaves no journal entry. */
export type Outcome<A> =
  | {
    readonly changed: true
    readonly answer: A
    readonly details: JournalDetails
    readonly targetId: string | undefined
    /**
     * Appended after the declared entry, in this order; each of them is one statement, which travels with the COMMIT.
     */
    readonly more: ReadonlyArray<Further>
    /** What is mailed because of the declared entry. */
    readonly mails: ReadonlyArray<Mail>
  }
  | Unchanged<A>

export const changed = <A>(
  answer: A,
  details: JournalDetails = {},
  targetId?: string,
  more: ReadonlyArray<Further> = [],
  mails: ReadonlyArray<Mail> = []
): Outcome<A> => ({
  changed: true,
  answer,
  details,
  targetId,
  more,
  mails
})
export const unchanged = <A>(answer: A): Unchanged<A> => ({ changed: false, answer })
