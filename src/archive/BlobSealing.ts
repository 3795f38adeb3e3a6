/** Contents of files, sealed in chunks under a key of their own, which is sealed under an epoch's key. */
import { Effect, Redacted, Stream } from "effect"
import { type BlobRef, chunkNonce, chunksAround, chunkSize, chunksOf, sealedChunkSize } from "../domain/archive/Blob.ts"
import { boundTo, concat } from "../domain/archive/Bytes.ts"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { type ByteRange, ContentBroken } from "../domain/Content.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { BlobStore, StoredObject } from "../ports/archive/BlobStore.ts"
import { inPieces } from "./Pieces.ts"

/** The key of one content, of 32 bytes. */
export type FileKey = Redacted.Redacted<Uint8Array>

const keySize = 32
const nonceSize = 12

const boundKey = ({ ref }: EpochKey, blobId: string): Uint8Array =>
  boundTo("file-key/1", ref.organizationId, ref.accountId, blobId, String(ref.epochId))

const boundBlob = ({ accountId, blobId, organizationId }: BlobRef): Uint8Array =>
  boundTo("blob/1", organizationId, accountId, blobId)

/** A new key, and its sealed form of 60 bytes. */
export const newFileKey = Effect.fnUntraced(function*(epoch: EpochKey, blobId: string) {
  const crypto = yield* ArchiveCrypto
  const bytes = yield* crypto.random(keySize)
  const nonce = yield* crypto.random(nonceSize)
  const sealed = yield* crypto.aeadSeal(Redacted.value(epoch.files), nonce, bytes, boundKey(epoch, blobId))
  const key: FileKey = Redacted.make(bytes)
  return { key, sealedKey: concat(nonce, sealed) }
})

export const openFileKey = Effect.fnUntraced(function*(epoch: EpochKey, blobId: string, sealedKey: Uint8Array) {
  const crypto = yield* ArchiveCrypto
  const nonce = sealedKey.subarray(0, nonceSize)
  const sealed = sealedKey.subarray(nonceSize)
  if (sealedKey.length !== nonceSize + keySize + 16) return yield* new ArchiveUnreadable({ part: "file key" })
  const opened = yield* crypto.aeadOpen(Redacted.value(epoch.files), nonce, sealed, boundKey(epoch, blobId)).pipe(
    Effect.mapError(() => new ArchiveUnreadable({ part: "file key" }))
  )
  const key: FileKey = Redacted.make(opened)
  return key
})

/** The object of a content. */
export const sealBlob = <E, R>(
  key: FileKey,
  ref: BlobRef,
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E, R | ArchiveCrypto> => {
  const bound = boundBlob(ref)
  return content.pipe(
    inPieces(chunkSize),
    Stream.mapEffect(({ bytes, isLast, place }) =>
      Effect.flatMap(
        ArchiveCrypto,
        (crypto) => crypto.aeadSeal(Redacted.value(key), chunkNonce(place, isLast), bytes, bound)
      )
    )
  )
}

/** Opens the chunks of a content of the size, each by itself. */
export const chunkOpener = (key: FileKey, ref: BlobRef, size: number) => {
  const bound = boundBlob(ref)
  const last = chunksOf(size) - 1
  return Effect.fnUntraced(function*(place: number, sealed: Uint8Array) {
    const crypto = yield* ArchiveCrypto
    return yield* Effect.mapError(
      crypto.aeadOpen(Redacted.value(key), chunkNonce(place, place === last), sealed, bound),
      () => new ContentBroken({ reason: `chunk ${place} does not open`, isLost: true })
    )
  })
}

/** Reads bytes of an object. */
export type ReadStored<E, R> = (range: ByteRange) => Stream.Stream<Uint8Array, E, R>

/** The object of a content as a store has it. */
export const storedBytes =
  (store: BlobStore["Service"], object: StoredObject): ReadStored<ContentBroken, never> => (range) =>
    Stream.mapError(
      store.get(object, range),
      ({ reason, why }) => new ContentBroken({ reason, isLost: why !== "unavailable" })
    )

/**
 * The bytes of a content within the range, which is within its size. Each chunk is checked before any byte of it is
 * given; one that was changed, moved or cut off, or another content's, ends the stream.
 */
export const openBlob = <E, R>(
  key: FileKey,
  ref: BlobRef,
  size: number,
  read: ReadStored<E, R>,
  range: ByteRange = { start: 0, end: size }
): Stream.Stream<Uint8Array, ContentBroken | E, R | ArchiveCrypto> => {
  const { first, last, stored } = chunksAround(size, range)
  const openChunk = chunkOpener(key, ref, size)
  const open = (chunk: number, sealed: Uint8Array) =>
    Effect.map(openChunk(chunk, sealed), (bytes) => {
      const at = chunk * chunkSize
      return bytes.subarray(Math.max(0, range.start - at), Math.max(0, range.end - at))
    })
  return read(stored).pipe(
    inPieces(sealedChunkSize),
    Stream.mapEffect(({ bytes, isLast, place }) => {
      const chunk = first + place
      return isLast !== (chunk === last)
        ? Effect.fail(new ContentBroken({ reason: "the object has another number of chunks", isLost: true }))
        : open(chunk, bytes)
    }),
    Stream.filter((bytes) => bytes.length > 0)
  )
}
