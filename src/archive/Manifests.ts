/** The making of manifests, and of the roots of the rounds in which they are journaled. */
import { Effect } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import { hex } from "../domain/archive/Bytes.ts"
import {
  bytesPerManifest,
  inOrder,
  type Leaf,
  manifestHash,
  manifestSeed,
  merkleRoot,
  pageLeaf,
  pagesPerManifest,
  roundLeaf
} from "../domain/archive/Manifest.ts"
import { now } from "../domain/Moments.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveManifests } from "../ports/archive/ArchiveManifests.ts"

/** Pages that are read and hashed at a time, after which requests have their turn: about 2 ms. */
const pagesAtOnce = 128

/**
 * Covers the next pages of the account; false where none is left. Pages are numbered under the archive's lock: those
 * with a lower id are committed.
 */
export const cover = Effect.fnUntraced(function*(organizationId: OrganizationId, accountId: AccountId) {
  const manifests = yield* ArchiveManifests
  const { sha256 } = yield* ArchiveCrypto
  const account = { organizationId, accountId }
  if (!(yield* manifests.lock(account))) return false
  const newest = yield* manifests.newest(account)
  const afterPage = newest?.lastPage ?? 0n
  const there: Array<Leaf> = []
  let lastPage = afterPage
  let bytes = 0
  let more = true
  while (more && there.length < pagesPerManifest && bytes < bytesPerManifest) {
    const pages = yield* manifests.pages(account, lastPage, Math.min(pagesAtOnce, pagesPerManifest - there.length))
    for (const page of pages) {
      there.push({ pageId: page.pageId, leaf: yield* pageLeaf(sha256, page) })
      bytes += page.bytes
    }
    lastPage = pages.at(-1)?.pageId ?? lastPage
    more = pages.length === pagesAtOnce
    yield* Effect.yieldNow
  }
  if (there.length === 0) return false
  const gone = yield* manifests.gone(account, { after: afterPage, upTo: lastPage })
  const leaves = inOrder([...there, ...gone])
  const root = yield* merkleRoot(sha256, leaves)
  yield* manifests.add(organizationId, {
    accountId,
    sequence: (newest?.sequence ?? 0n) + 1n,
    round: yield* manifests.nextRound(organizationId),
    at: yield* now,
    afterPage,
    lastPage,
    pages: leaves.length,
    root,
    hash: yield* manifestHash(sha256, newest?.hash ?? (yield* manifestSeed(sha256, account)), leaves.length, root)
  })
  return more
})

/** The root of the tree over the manifests of a round, in hex; with how many manifests and pages there are. */
export const roundRoot = Effect.fnUntraced(function*(organizationId: OrganizationId, round: bigint) {
  const { sha256 } = yield* ArchiveCrypto
  const made = yield* (yield* ArchiveManifests).ofRound(organizationId, round)
  const leaves = yield* Effect.forEach(made, (manifest) => roundLeaf(sha256, manifest))
  return {
    root: hex(yield* merkleRoot(sha256, leaves)),
    manifests: made.length,
    pages: made.reduce((sum, { pages }) => sum + pages, 0)
  }
})
