/** Journals what was done in an organization, each event with the mails that are sent because of it. */
import { Effect } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import {
  type ActionName,
  background,
  commandLine,
  type EntryFacts,
  type EntryOrigin,
  type JournalAction,
  journalAction,
  type JournalEntry,
  journalEntry
} from "../domain/journal/JournalEntry.ts"
import type { JournalDetails, JournalOutcome } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { Caller, OrganizationId } from "../domain/people/Access.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { Outbox } from "../ports/mail/Outbox.ts"

/** The one who does something in an organization, and from where. */
export interface Author {
  readonly organizationId: OrganizationId
  readonly actor: Actor.Actor
  readonly origin: EntryOrigin
}

/** The object that something is done to, and the account that it concerns. */
export interface Target {
  readonly id: string
  readonly accountId?: string | null | undefined
}

/** An action of the table by its name, or one that is declared with its operation. */
export type Action = ActionName | JournalAction

export const byCaller = (caller: Caller["Service"]): Author => ({
  organizationId: caller.organizationId,
  actor: Actor.caller(caller),
  origin: caller
})

/** The service itself, in background work. */
export const byService = (organizationId: OrganizationId, actor: Actor.Actor = Actor.service): Author => ({
  organizationId,
  actor,
  origin: background
})

export const byOperator = (organizationId: OrganizationId): Author => ({
  organizationId,
  actor: Actor.operator,
  origin: commandLine
})

/** The entry of what the author did to the target; `closes` is the sequence of the intent that it completes. */
export const entryOf = (
  { actor, origin }: Author,
  action: Action,
  { accountId = null, id }: Target,
  outcome: JournalOutcome,
  details: JournalDetails,
  closes?: number
): JournalEntry =>
  journalEntry(actor, origin, typeof action === "string" ? journalAction(action) : action, {
    targetId: id,
    accountId,
    outcome,
    details,
    ...(closes === undefined ? {} : { closes })
  })

/** Writes the mails of the event that the current transaction has appended last. */
export const mail = Effect.fnUntraced(function*(organizationId: OrganizationId, mails: ReadonlyArray<Mail>) {
  const outbox = yield* Outbox
  for (const letter of mails) yield* outbox.add(organizationId, "event", letter)
})

/** Appends the event within the current transaction, and writes its mails with it. */
export const record = Effect.fnUntraced(function*(
  author: Author,
  action: Action,
  target: Target,
  details: JournalDetails = {},
  mails: ReadonlyArray<Mail> = [],
  outcome: JournalOutcome = "done"
) {
  const journal = yield* Journal
  yield* journal.append(author.organizationId, entryOf(author, action, target, outcome, details))
  if (mails.length > 0) yield* mail(author.organizationId, mails)
})

/** A further event of a change. */
export interface FurtherEntry extends Omit<EntryFacts, "closes"> {
  readonly journal: JournalAction
  /** The mails because of it. */
  readonly mails?: ReadonlyArray<Mail>
}

/** Journals what happened besides, each mail with its event. */
export const recordAll = Effect.fnUntraced(function*(author: Author, events: ReadonlyArray<FurtherEntry> = []) {
  for (const { accountId, details, journal, mails, outcome, targetId } of events) {
    yield* record(author, journal, { id: targetId, accountId }, details, mails, outcome)
  }
})
