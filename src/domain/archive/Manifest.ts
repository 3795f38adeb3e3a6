/**
 * Manifests: chains of digests over the pages of each account, in the order of their ids. One that is removed, changed or
 * added afterwards no longer gives the hash that the journal, and the signed checkpoints over it, hold.
 */
import { Effect } from "effect"
import { concat, utf8 } from "./Bytes.ts"

/** SHA-256. */
export type Hash = (bytes: Uint8Array) => Effect.Effect<Uint8Array>

/** A page as its row says it is, without its frames; `day` is `YYYY-MM-DD`. */
export interface PageFacts {
  readonly pageId: bigint
  readonly chatId: bigint
  readonly firstId: bigint
  readonly lastId: bigint
  readonly day: string
  readonly firstAt: Date
  readonly lastAt: Date
  readonly messages: number
  readonly bytes: number
  readonly ids: Uint8Array
  readonly digest: Uint8Array
  readonly kind: string
}

/** A page's place in a manifest. */
export interface Leaf {
  readonly pageId: bigint
  readonly leaf: Uint8Array
}

const int64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value)
  return bytes
}

const int32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setInt32(0, value)
  return bytes
}

const millisecondsPerDay = 86_400_000

const entryMark = Uint8Array.of(0)
const nodeMark = Uint8Array.of(1)

/** The leaf of a page: of all that its row says, and of the digest of its frames. */
export const pageLeaf = Effect.fnUntraced(function*(hash: Hash, page: PageFacts) {
  return yield* hash(concat(
    entryMark,
    int64(page.pageId),
    int64(page.chatId),
    int64(page.firstId),
    int64(page.lastId),
    int32(Date.parse(`${page.day}T00:00:00Z`) / millisecondsPerDay),
    int64(BigInt(page.firstAt.getTime())),
    int64(BigInt(page.lastAt.getTime())),
    int32(page.messages),
    int32(page.bytes),
    yield* hash(page.ids),
    page.digest,
    utf8(page.kind)
  ))
})

/** Nodes that are hashed before others have their turn. */
const nodesAtOnce = 256

/** The Merkle tree hash (RFC 6962, 2.1) of leaves that are hashed already. */
export const merkleRoot = Effect.fnUntraced(function*(hash: Hash, leaves: ReadonlyArray<Uint8Array>) {
  let level = leaves
  while (level.length > 1) {
    const above: Array<Uint8Array> = []
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = level.slice(at, at + 2)
      if (left === undefined) break
      above.push(right === undefined ? left : yield* hash(concat(nodeMark, left, right)))
      if (above.length % nodesAtOnce === 0) yield* Effect.yieldNow
    }
    level = above
  }
  return level[0] ?? (yield* hash(new Uint8Array()))
})

/** The hash before an account's first manifest. */
export const manifestSeed = (
  hash: Hash,
  { accountId, organizationId }: { readonly accountId: string; readonly organizationId: string }
) => hash(utf8(`archive-manifest/1\n${organizationId}\n${accountId}`))

export const manifestHash = (hash: Hash, previous: Uint8Array, pages: number, root: Uint8Array) =>
  hash(concat(previous, int64(BigInt(pages)), root))

/** The leaf of a manifest in the round that it was made in. */
export const roundLeaf = (
  hash: Hash,
  { accountId, hash: own, sequence }: {
    readonly accountId: string
    readonly sequence: bigint
    readonly hash: Uint8Array
  }
) => hash(concat(entryMark, utf8(accountId), int64(sequence), own))

/** The leaves in the order of the tree. */
export const inOrder = (leaves: ReadonlyArray<Leaf>): ReadonlyArray<Uint8Array> =>
  leaves.toSorted((one, other) => one.pageId < other.pageId ? -1 : one.pageId > other.pageId ? 1 : 0)
    .map(({ leaf }) => leaf)

/** Pages that one manifest covers at most: they are compared together to verify it. */
export const pagesPerManifest = 4096

/** A manifest that covers so many bytes of frames covers only the pages that were read with the last of them. */
export const bytesPerManifest = 256 * 1024 * 1024
