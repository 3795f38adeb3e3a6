/** What the implementation of an operation is given, and what a write answers. */
import type { Caller } from "../domain/Access.ts"
import type { AccountFacts } from "../domain/Account.ts"
import type { Happened, JournalAction } from "../domain/JournalEntry.ts"
import type { JournalDetails } from "../domain/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type * as Journaling from "./Journaling.ts"
import type * as Live from "./Live.ts"

/** What the kernel knows when it runs an operation. */
export interface Known {
  readonly caller: Caller["Service"]
  readonly now: Date
  /** The account of the path; undefined where the operation is about none. */
  readonly account: AccountFacts | undefined
}

/** Besides, the account's live session and the one way to change something on the messenger. */
export interface Messaging extends Known {
  readonly live: Live.Live
  readonly change: Journaling.Change
}

/** What an implementation knows besides its input. */
export interface Reading<Params, Beside = undefined> extends Known {
  /** What the contract says is read beside the account. */
  readonly beside: Beside
  readonly account: Params extends { readonly account_id: unknown } ? AccountFacts : undefined
}

/** Besides, the account's live session. */
export interface LiveReading<Params> extends Reading<Params> {
  readonly live: Live.Live
}

/** Besides, the one way to change something on the messenger. */
export interface Changing<Params> extends LiveReading<Params> {
  readonly change: Journaling.Change
}

/** What a write journals beside the entry that its contract declares. */
export interface Further extends Happened {
  readonly journal: JournalAction
  /** What is mailed because of it. */
  readonly mails?: ReadonlyArray<Mail>
}

/** What a write did: a change that changes nothing leaves no journal entry. */
export type Outcome<A> =
  | {
    readonly changed: true
    readonly answer: A
    readonly details: JournalDetails
    readonly targetId: string | undefined
    /** Appended after the declared entry, in this order; each of them costs two statements while the head is locked. */
    readonly more: ReadonlyArray<Further>
    /** What is mailed because of the declared entry. */
    readonly mails: ReadonlyArray<Mail>
  }
  | { readonly changed: false; readonly answer: A }

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
export const unchanged = <A>(answer: A): Outcome<A> => ({ changed: false, answer })
