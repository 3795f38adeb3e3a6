/** Rows of stored contents: written before their objects are, and deleted after them. */
import { Context, type Effect } from "effect"
import type { BlobRef } from "../../domain/archive/Blob.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { KeptObject, StoredObject } from "./BlobStore.ts"
import type { ArchivedAccount } from "./Epochs.ts"

export interface NewBlob {
  readonly blobId: string
  readonly messengerFile: string
  readonly epochId: bigint
  readonly sealedKey: Uint8Array
  readonly bytes: number
}

/** An object that is whole. */
export interface WholeBlob extends StoredObject, KeptObject {
  /** Of the content. */
  readonly sha256: Uint8Array
}

/** An object to remove, or one whose writer may have ended. */
export interface BlobDue extends BlobRef, StoredObject {
  readonly state: "writing" | "deleting"
}

/**
 * A row is `writing` until its object is whole, `saved` with the first file of it, and `deleting`, without its key, from
 * when no file has it any more until its object is removed, which waits until the lock of the object has ended. All but
 * `due` run inside a transaction of the organization, those of a writer after its fence.
 */
export class ArchiveBlobs extends Context.Service<ArchiveBlobs, {
  /** The content that the messenger calls so, where it is saved. */
  saved(account: ArchivedAccount, messengerFile: string): Effect.Effect<string | null>
  begin(account: ArchivedAccount, blob: NewBlob, writer: string, now: Date): Effect.Effect<void>
  /** Says that the object is still being written; false where the row is not `writing` any more. */
  renew(account: ArchivedAccount, blobId: string, now: Date): Effect.Effect<boolean>
  /** The object is whole; false where the row is not `writing` any more. */
  finish(account: ArchivedAccount, blob: WholeBlob, now: Date): Effect.Effect<boolean>
  /** Gives the file its content, and counts it; false where the file neither waits for it nor was given up. */
  attach(account: ArchivedAccount, fileId: string, blobId: string, now: Date): Effect.Effect<boolean>
  /**
   * The rows of all organizations whose objects are to be removed, and are not locked now: those that were never saved only
   * from `before` on.
   */
  due(before: Date, now: Date, limit: number): Effect.Effect<ReadonlyArray<BlobDue>, ServiceUnavailable>
  /** Gives a row up that nobody has renewed since `before`. */
  abandon(blob: BlobRef, before: Date, now: Date): Effect.Effect<void>
  /**
   * Leaves a row that was given up, or whose object is still there, without its key: it is due again behind the others, not
   * before the lock of its object has ended, and if it was never saved, not before it is as old as `due` asks.
   */
  leave(blob: BlobRef, kept: KeptObject, now: Date): Effect.Effect<void>
  /** Deletes the row, whose object is removed; a row that was not saved is given up by it too. */
  forget(blob: BlobRef): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveBlobs") {}
