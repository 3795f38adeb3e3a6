/** Sealed records as they are written. Each statement needs the transaction in which the epoch was fenced. */
import { Context, type Effect } from "effect"
import type { FrameKind } from "../../domain/archive/Epoch.ts"
import type { DeletionReason } from "../../domain/archive/Records.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** The UTC day on which the messages of edits were sent; null where there is no edit. */
export type SentDay = string | null

/** A page to store; ids ascend, and are empty for members and titles. */
export interface NewPage {
  readonly chatId: bigint
  readonly day: string
  readonly kind: FrameKind
  readonly ids: ReadonlyArray<bigint>
  readonly firstAt: Date
  readonly lastAt: Date
  readonly sentDay: SentDay
  readonly digest: Uint8Array
  readonly sealed: Uint8Array
}

export interface NewTailRow {
  readonly chatId: bigint
  readonly day: string
  readonly kind: "messages" | "changes"
  readonly messageId: bigint
  readonly at: Date
  readonly sentDay: SentDay
  readonly epochId: bigint
  readonly sealed: Uint8Array
}

/** An edit or deletion; `editDate` is in Unix seconds, 0 for a deletion. */
export interface NewChange {
  readonly chatId: bigint
  readonly messageId: bigint
  readonly kind: "seen" | "edited" | "deleted"
  readonly editDate: number
  /** Tells revisions of one second apart under the epoch; null for a deletion. */
  readonly mark: RevisionMark | null
  /** It is older than what was archived before it. */
  readonly late: boolean
  /** Revisions of one second are numbered in the order in which they are stored; 0 for a deletion. */
  readonly place: number
  /** The source of a deletion; null for an edit. */
  readonly why: DeletionReason | null
  readonly at: Date
  /** The page or tail row that holds it; null where the message itself does. */
  readonly heldBy: { readonly page: bigint } | { readonly tail: bigint } | null
}

export interface NewFile {
  readonly fileId: string
  readonly chatId: bigint
  readonly messageId: bigint
  readonly day: string
  readonly isLarge: boolean
  readonly state: "pending" | "skipped"
  readonly at: Date
}

/** Rows of the tail that become one or several pages. */
export interface TailGroup {
  readonly chatId: bigint
  readonly day: string
  readonly kind: "messages" | "changes"
  readonly sentDay: SentDay
}

export interface TailRow extends SealedFrames {
  readonly messageId: bigint
  readonly at: Date
}

/** A keyed digest of a revision; those of different epochs cannot be compared. */
export interface RevisionMark {
  readonly epochId: bigint
  readonly digest: Uint8Array
}

/** A revision of a message; `editDate` is in Unix seconds, 0 for the message as sent. */
export interface KnownChange {
  readonly editDate: number
  readonly mark: RevisionMark | null
  /** The message was first seen so. */
  readonly isFirst: boolean
  readonly late: boolean
  readonly place: number
}

/** The state of an archived message, beside the message as it was sent. */
export interface KnownChanges {
  readonly messageId: bigint
  /** Those of the asked seconds and the newest one, those of one second in the order of their storing. */
  readonly revisions: ReadonlyArray<KnownChange>
  readonly deleted: boolean
}

/** The growth of a chat by messages. */
export interface ChatGrowth {
  readonly chatId: bigint
  readonly ids: ReadonlyArray<bigint>
  /** The size of their records. */
  readonly bytes: number
  readonly firstAt: Date
  readonly lastAt: Date
}

export class ArchiveRecords extends Context.Service<ArchiveRecords, {
  /** Stores pages and answers their numbers in the same order. */
  addPages(account: ArchivedAccount, pages: ReadonlyArray<NewPage>): Effect.Effect<ReadonlyArray<bigint>>
  /** Stores rows and answers their numbers, or leaves them to the commit: no change names them. */
  addTail(account: ArchivedAccount, rows: ReadonlyArray<NewTailRow>): Effect.Effect<ReadonlyArray<bigint>>
  postTail(account: ArchivedAccount, rows: ReadonlyArray<NewTailRow>): Effect.Effect<void>
  addChanges(account: ArchivedAccount, changes: ReadonlyArray<NewChange>): Effect.Effect<void>
  addFiles(account: ArchivedAccount, files: ReadonlyArray<NewFile>): Effect.Effect<void>
  /** Those of the ids that are archived. */
  known(account: ArchivedAccount, chatId: bigint, ids: ReadonlyArray<bigint>): Effect.Effect<ReadonlySet<bigint>>
  /** The archived ids from `low` to `high`, ascending. */
  between(
    account: ArchivedAccount,
    chatId: bigint,
    low: bigint,
    high: bigint
  ): Effect.Effect<ReadonlyArray<bigint>>
  /** Those of the ids whose content was taken out of the archive and stays out of it, also once they are deleted. */
  redacted(account: ArchivedAccount, chatId: bigint, ids: ReadonlyArray<bigint>): Effect.Effect<ReadonlySet<bigint>>
  /** Of the messages; `editDates` are seconds whose revisions are asked for: a message may have very many. */
  knownChanges(
    account: ArchivedAccount,
    chatId: bigint,
    ids: ReadonlyArray<bigint>,
    editDates: ReadonlyArray<number>
  ): Effect.Effect<ReadonlyArray<KnownChanges>>
  /** Counts new messages of the chat, of its account and of the organization's archive. */
  grow(account: ArchivedAccount, growth: ChatGrowth, now: Date): Effect.Effect<void>
  /** Counts a change of what the chat's records take. */
  resize(account: ArchivedAccount, chatId: bigint, bytes: number): Effect.Effect<void>
  /**
   * Groups of the open epoch that are full, or all that began before `until`; none while a cleanup of the account is
   * previewed or runs.
   */
  dueGroups(
    account: ArchivedAccount,
    epochId: bigint,
    until: string,
    full: number
  ): Effect.Effect<ReadonlyArray<TailGroup>>
  /** Groups of closed epochs; none while a cleanup of the account is previewed or runs. */
  deadGroups(account: ArchivedAccount): Effect.Effect<ReadonlyArray<TailGroup>>
  /** Locks the group's rows, of the epoch or of all closed ones, by message and then by number. */
  takeTail(
    account: ArchivedAccount,
    group: TailGroup,
    epochId: bigint | null,
    limit: number
  ): Effect.Effect<ReadonlyArray<TailRow>>
  /** Lets changes name the page, and deletes the tail rows that it holds. */
  replaceTail(account: ArchivedAccount, rows: ReadonlyArray<bigint>, page: bigint): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveRecords") {}
