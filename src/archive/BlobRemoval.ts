/** The removal of an object of the store with the row that names it. */
import { Effect } from "effect"
import type { BlobRef } from "../domain/archive/Blob.ts"
import { now } from "../domain/Moments.ts"
import { ArchiveBlobs } from "../ports/archive/ArchiveBlobs.ts"
import { BlobStore, type StoredObject } from "../ports/archive/BlobStore.ts"
import { Db } from "../ports/Db.ts"

/**
 * Object first, row last: a process that ends between has the object removed again, which is no fault. The row of an object
 * that is locked is left until the lock ends.
 */
export const removeBlob = Effect.fnUntraced(function*(blob: BlobRef & StoredObject) {
  const blobs = yield* ArchiveBlobs
  const db = yield* Db
  const kept = yield* (yield* BlobStore).remove(blob)
  const ended = kept === null ? blobs.forget(blob) : blobs.leave(blob, kept, yield* now)
  yield* db.transaction(blob.organizationId, ended)
})
