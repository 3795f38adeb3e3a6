/** Sealed records as exports read them: in the order of their ids, with the digests of their pages. */
import { Context, type Effect } from "effect"
import type { ChatType } from "../../domain/archive/Chat.ts"
import type { Checkpoint } from "../../domain/journal/Checkpoint.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { StoredManifest } from "./ArchiveManifests.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { StoredObject } from "./BlobStore.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** Days of an account's chats, `YYYY-MM-DD`; chats are null for all. */
export interface ExportDays {
  readonly chatIds: ReadonlyArray<bigint> | null
  readonly firstDay: string
  readonly lastDay: string
}

export interface ChatOfDays {
  readonly chatId: bigint
  readonly type: ChatType
}

/** A page or tail row by its number and lowest id. */
export interface FrameRange {
  readonly number: bigint
  readonly firstId: bigint
}

/** A page or tail row by its number, and the bytes of its frames. */
export interface FrameSize {
  readonly number: bigint
  readonly bytes: number
}

/** A page with its message ids, or a tail row, whose digest is null. */
export interface DigestedFrames extends SealedFrames {
  readonly ids: ReadonlyArray<bigint>
  readonly digest: Uint8Array | null
}

/** Changes of messages that were seen until a moment: deletions, and numbers of edits, by message. */
export interface ExportChanges {
  readonly deleted: ReadonlyMap<bigint, Date>
  readonly edited: ReadonlyMap<bigint, number>
}

/** Edits that were seen until a moment: of each message the oldest ones up to a number, and the newest. */
export interface EditsAsked {
  readonly ids: ReadonlyArray<bigint>
  readonly until: Date
  readonly oldest: number
}

/** A saved content; `key` is sealed under the epoch. */
export interface StoredContent extends StoredObject {
  readonly epochId: bigint
  readonly key: Uint8Array
  readonly size: number
}

/** Each statement needs the transaction of the organization. */
export class ExportRecords extends Context.Service<ExportRecords, {
  /** Chats with messages in the days, by their ids, after one of them. */
  chats(
    account: ArchivedAccount,
    days: ExportDays,
    after: bigint | null,
    limit: number
  ): Effect.Effect<ReadonlyArray<ChatOfDays>>
  /** All titles that the chat has had. */
  titles(account: ArchivedAccount, chatId: bigint): Effect.Effect<ReadonlyArray<SealedFrames>>
  /** Pages and tail rows of the chat in the days with an id above one, by their lowest ids. */
  ranges(
    account: ArchivedAccount,
    chatId: bigint,
    days: ExportDays,
    above: bigint | null
  ): Effect.Effect<ReadonlyArray<FrameRange>>
  /** Those of the pages and tail rows that are there, by their numbers. */
  frames(
    account: ArchivedAccount,
    chatId: bigint,
    numbers: ReadonlyArray<bigint>
  ): Effect.Effect<ReadonlyArray<DigestedFrames>>
  changes(
    account: ArchivedAccount,
    chatId: bigint,
    ids: ReadonlyArray<bigint>,
    until: Date
  ): Effect.Effect<ExportChanges>
  /** The pages and tail rows that hold the edits, by their numbers. */
  editPlaces(account: ArchivedAccount, chatId: bigint, asked: EditsAsked): Effect.Effect<ReadonlyArray<FrameSize>>
  /** The stored content of a file; null where there is none. */
  content(account: ArchivedAccount, fileId: string): Effect.Effect<StoredContent | null>
  /** The account's newest manifest of a time. */
  manifest(account: ArchivedAccount, until: Date): Effect.Effect<StoredManifest | null>
  /** The organization's newest signed checkpoint of a time. */
  checkpoint(organizationId: OrganizationId, until: Date): Effect.Effect<Checkpoint | null>
}>()("org-security-console/ports/archive/ExportRecords") {}
