/** The journal. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { JournalEntry } from "../../domain/journal/JournalEntry.ts"
import type { JournalEvent, JournalOutcome } from "../../domain/journal/JournalEvent.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** A page of the journal, newest first, one more than `limit` where more follow. */
export interface JournalQuery {
  readonly beforeId: string | undefined
  readonly before: Date | undefined
  readonly since: Date | undefined
  readonly accountId: string | undefined
  readonly adminId: string | undefined
  readonly action: string | undefined
  readonly outcome: JournalOutcome | undefined
  readonly credentialId: string | undefined
  readonly limit: number
}

/** Some events, and the newest of the organization at the same moment: sequence 0 and the chain's seed without one. */
export interface JournalPage {
  readonly events: ReadonlyArray<JournalEvent>
  readonly head: { readonly sequence: number; readonly hash: string }
}

/** The organization's append-only journal: gapless, and chained by hashes. */
export class Journal extends Context.Service<Journal, {
  /** Appends the entry within the current transaction; it locks the journal's head until the end of it. */
  append(organizationId: OrganizationId, entry: JournalEntry): Effect.Effect<void>
  /**
   * Appends the intent of a change outside the database, and answers its place; left without an outcome it is closed as
   * failed later.
   */
  begin(organizationId: OrganizationId, entry: JournalEntry): Effect.Effect<{ readonly sequence: number }>
  /** Gives an intent more time, within the current transaction: false when it has an outcome already. */
  renew(organizationId: OrganizationId, intent: number): Effect.Effect<boolean>
  /** Appends the outcome of an intent, once: false when it has one already. */
  close(organizationId: OrganizationId, intent: number, entry: JournalEntry): Effect.Effect<boolean>
  /**
   * Appends in a transaction of its own that something was refused: at most 10 times a minute for one credential, past
   * which nothing is kept.
   */
  refuse(
    organizationId: OrganizationId,
    credentialId: string,
    entry: JournalEntry
  ): Effect.Effect<void, ServiceUnavailable>
  /** The events that the caller may see, or null when `beforeId` is not among them. */
  list(caller: Caller["Service"], query: JournalQuery): Effect.Effect<JournalPage | null>
  find(caller: Caller["Service"], id: string): Effect.Effect<JournalEvent | null>
  /** The events that complete those with these sequences, by the sequence of what they complete. */
  completing(
    organizationId: OrganizationId,
    sequences: ReadonlyArray<number>
  ): Effect.Effect<ReadonlyMap<number, number>>
  /** The events after a sequence, oldest first, of all accounts. */
  tail(organizationId: OrganizationId, after: number, limit: number): Effect.Effect<JournalPage>
}>()("org-security-console/ports/journal/Journal") {}
