/** Sealed records as they are read: pages, and rows of the tail as pages of one message. */
import { Context, type Effect } from "effect"
import type { FileReason } from "../../domain/archive/FileReason.ts"
import type { FileState } from "../../domain/archive/Message.ts"
import type { DeletionReason } from "../../domain/archive/Records.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** Sealed frames of one chat and UTC day. `number` orders them, and is one page's or tail row's. */
export interface SealedFrames {
  readonly number: bigint
  readonly day: string
  readonly sealed: Uint8Array
}

/** The sealed messages of a page or tail row. */
export interface SealedMessages extends SealedFrames {
  readonly lastId: bigint
  readonly ids: ReadonlyArray<bigint>
}

/** Messages of a chat beyond `bound` in one direction. */
export interface MessageWindow {
  readonly chatId: bigint
  readonly direction: "older" | "newer"
  /** Only ids below it, or above it; null for none. */
  readonly bound: bigint | null
  /** Pages and tail rows that were read already. */
  readonly read: ReadonlyArray<bigint>
  readonly since: Date | null
  readonly until: Date | null
  /** Messages; a window ends with the page after those that have so many beyond `bound`. */
  readonly enough: number
  /** The most pages and tail rows. */
  readonly limit: number
  /** It ends with the page that reaches so many bytes of frames. */
  readonly bytes: number
}

/** A part of a window, from its beginning; `ended` where nothing of the chat follows. */
export interface WindowPart {
  readonly pages: ReadonlyArray<SealedMessages>
  readonly ended: boolean
}

/** A message of an account. */
export interface MessageName {
  readonly chatId: bigint
  readonly messageId: bigint
}

/** The edits and the deletion of a message; a message without any has no such row. */
export interface MessageChanges extends MessageName {
  /** Edits after it was first seen. */
  readonly edits: number
  /** The messenger's times of the oldest `editDatesPerMessage` of them, in Unix seconds, ascending. */
  readonly editDates: ReadonlyArray<number>
  readonly deletedAt: Date | null
  /** The source of the deletion. */
  readonly deletedWhy: DeletionReason | null
  /** The frames with its newest edit; messages whose edits one page holds share the object. */
  readonly newest: SealedFrames | null
}

/** The changes of messages, from the first one on up to the first whose frames are beyond the bytes. */
export interface ChangesPart {
  readonly changes: ReadonlyArray<MessageChanges>
  /** The number of messages, from the first on, whose changes these are. */
  readonly stated: number
}

/** Edits of a message beyond the oldest `skip`, the oldest first. */
export interface EditWindow {
  readonly skip: number
  /** The most edits. */
  readonly limit: number
  /** The most bytes of frames; the first frames are read even where they are larger. */
  readonly bytes: number
}

/** Frames with the places of the window's edits in them among all edits of the message; the oldest edit is at 0. */
export interface EditFrames extends SealedFrames {
  readonly places: ReadonlyArray<number>
}

/** The window's edits up to the first one that is beyond its limits; `ended` where none is left. */
export interface EditPart {
  /** Each once, in the order of their oldest edits. */
  readonly frames: ReadonlyArray<EditFrames>
  readonly ended: boolean
}

/** The state of a file; its name is in its message. */
export interface StoredFile extends MessageName {
  readonly fileId: string
  readonly state: FileState
  readonly reason: FileReason | null
  readonly sha256: Uint8Array | null
  readonly at: Date
}

/**
 * Law: the union of all windows is the chat; a page of an account that was not asked for is never answered. Each
 * statement needs the transaction of the organization.
 */
export class ArchivePages extends Context.Service<ArchivePages, {
  /** Pages and tail rows, by their highest id in the direction. */
  window(account: ArchivedAccount, window: MessageWindow): Effect.Effect<WindowPart>
  /** At most so many bytes of frames, each counted once; the first frames are read even where they are larger. */
  changes(
    account: ArchivedAccount,
    messages: ReadonlyArray<MessageName>,
    bytes: number
  ): Effect.Effect<ChangesPart>
  /** Frames with edits of the message. */
  edits(account: ArchivedAccount, message: MessageName, window: EditWindow): Effect.Effect<EditPart>
  /**
   * The frames with edits of the messages, each once; of a message those of at most `limit` edits, the first ones. In
   * all as many as are within `bytes`, or one.
   */
  editFrames(
    account: ArchivedAccount,
    messages: ReadonlyArray<MessageName>,
    limit: number,
    bytes: number
  ): Effect.Effect<ReadonlyArray<SealedFrames & Pick<MessageName, "chatId">>>
  files(account: ArchivedAccount, messages: ReadonlyArray<MessageName>): Effect.Effect<ReadonlyArray<StoredFile>>
}>()("org-security-console/ports/archive/ArchivePages") {}
