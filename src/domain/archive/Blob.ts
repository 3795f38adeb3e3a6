/** The layout of a stored content: chunks of 64 KiB, each sealed by itself, so that a part can be opened alone. */
import type { ByteRange } from "../Content.ts"
import { isUuid } from "../JsonShapes.ts"
import type { EpochRef } from "./Epoch.ts"

/** A content of one account. Its id names the object too, and is random: it says nothing. */
export interface BlobRef extends Pick<EpochRef, "accountId" | "organizationId"> {
  readonly blobId: string
}

export const chunkSize = 65_536
const tagSize = 16

/** The size of a sealed chunk that is not the last. */
export const sealedChunkSize = chunkSize + tagSize

/** An empty content is one empty chunk. */
export const chunksOf = (size: number): number => Math.max(1, Math.ceil(size / chunkSize))

export const sealedSize = (size: number): number => size + chunksOf(size) * tagSize

/** The nonce of a chunk: 5 zero bytes, its place in 6, and 1 where it is the last. One key seals one content alone. */
export const chunkNonce = (place: number, isLast: boolean): Uint8Array => {
  const nonce = new Uint8Array(12)
  // A view of the bytes would move them out of the heap, which takes longer than all else here.
  for (let at = 10, rest = place; rest > 0; at--) {
    nonce[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** The chunks that hold a range of a content, and where they are in the object. */
export const chunksAround = (size: number, { end, start }: ByteRange) => {
  const first = Math.floor(start / chunkSize)
  const last = Math.max(first, Math.ceil(end / chunkSize) - 1)
  return {
    first,
    last,
    stored: { start: first * sealedChunkSize, end: Math.min((last + 1) * sealedChunkSize, sealedSize(size)) }
  }
}

/** True if it can be the name of an object: nothing that leads anywhere. */
export const isBlobId = isUuid
