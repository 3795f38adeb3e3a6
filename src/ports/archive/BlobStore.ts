/** Objects: the sealed contents of files, outside of the database. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { ByteRange } from "../../domain/Content.ts"

/** An object is there already, is not there, is not what it should be, may not be removed, or the store does not answer. */
export class BlobStoreFailed extends Schema.TaggedError<BlobStoreFailed>()("BlobStoreFailed", {
  why: Schema.Literals(["exists", "missing", "refused", "size", "unavailable"]),
  /** For the log: no key, no credential and no content. */
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** An object, and the version of it that the store named; null for the only one. */
export interface StoredObject {
  readonly blobId: string
  readonly version: string | null
}

/** The version of an object that a put has stored, or that a lock has kept. */
export interface KeptObject extends Pick<StoredObject, "version"> {
  /** The time before which nobody can remove it; null for none. */
  readonly lockedUntil: Date | null
}

/**
 * Laws: a put that failed leaves nothing that `get` finds, but for one that was interrupted or whose store did not answer; a
 * second put of an id fails; `get` of a range is the slice of the whole; `remove` of what is not there succeeds; an id that
 * is no UUID fails or is not there, and leads nowhere.
 */
export class BlobStore extends Context.Service<BlobStore, {
  /** False where no place is configured: nothing is stored, and files wait until there is one. */
  readonly isConfigured: boolean
  /** Stores exactly so many bytes; it returns once they are durable. */
  put<E, R>(
    id: string,
    size: number,
    bytes: Stream.Stream<Uint8Array, E, R>
  ): Effect.Effect<KeptObject, BlobStoreFailed | E, R>
  get(object: StoredObject, range: ByteRange): Stream.Stream<Uint8Array, BlobStoreFailed>
  /** The version that a lock keeps there; null once the object is gone. */
  remove(object: StoredObject): Effect.Effect<KeptObject | null, BlobStoreFailed>
  exists(id: string): Effect.Effect<boolean, BlobStoreFailed>
}>()("org-security-console/ports/archive/BlobStore") {}
