/** Redaction in what is stored. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { RedactionId } from "../../domain/archive/Redaction.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** Messages of one chat. */
export interface RedactedMessages {
  readonly account: ArchivedAccount
  readonly chatId: bigint
  readonly ids: ReadonlyArray<bigint>
}

/** A page or a tail row that holds one of the messages, or an edit of one. */
export interface RedactedPlace extends Pick<SealedFrames, "day" | "number"> {
  readonly isPage: boolean
  readonly kind: "messages" | "changes"
  readonly ids: ReadonlyArray<bigint>
  /** The size of its frames. */
  readonly bytes: number
}

/** A place with its frames. */
export interface FramedPlace extends RedactedPlace {
  readonly sealed: Uint8Array
}

/** A place with its frames as they are from now on. */
export interface RewrittenPlace extends FramedPlace {
  readonly rewritten: Uint8Array
  readonly digest: Uint8Array
}

/** The counts of a redaction. */
export interface Redacted {
  /** Messages that were not redacted before. */
  readonly messages: number
  /** Files that were saved. */
  readonly files: number
}

/**
 * Law: after `replace` of all places and `finish` nothing that is stored holds what the messages said but frames that were
 * passed to it, and whatever a key opens that is not shredded. What is deleted later by an older cleanup is deleted with its rewritten pages too.
 */
export class ArchiveRedactions extends Context.Service<ArchiveRedactions, {
  /** Locks the account's archive for the rest of the transaction; false where it is not there any more. */
  lock(account: ArchivedAccount): Effect.Effect<boolean>
  /** All places by their numbers, the first with their frames: so many bytes of them, or those of the first place. */
  places(
    messages: RedactedMessages,
    bytes: number
  ): Effect.Effect<ReadonlyArray<RedactedPlace & { readonly sealed: Uint8Array | null }>>
  /** Those of the places that are there. */
  frames(messages: RedactedMessages, numbers: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<FramedPlace>>
  /** The numbers of all places, and the days that they are of. */
  numbers(messages: RedactedMessages): Effect.Effect<ReadonlyArray<Pick<RedactedPlace, "day" | "number">>>
  /** The id of a new redaction, by which its replaced pages and the journal name it. */
  readonly newId: Effect.Effect<RedactionId>
  /** Replaces some of the places: their pages get new numbers, and vocabularies that name the pages are deleted. */
  replace(id: RedactionId, messages: RedactedMessages, places: ReadonlyArray<RewrittenPlace>): Effect.Effect<void>
  /**
   * Deletes the messages' files, forgets what tells contents apart, and marks the messages: nothing of them is archived
   * again.
   */
  finish(messages: RedactedMessages, now: Date): Effect.Effect<Redacted>
}>()("org-security-console/ports/archive/ArchiveRedactions") {}
