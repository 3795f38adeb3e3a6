/** The verification of archives: manifests against pages, and the journal's rounds against manifests. */
import { Effect } from "effect"
import { AccountId } from "../domain/accounts/Account.ts"
import { sameBytes } from "../domain/archive/Bytes.ts"
import {
  bytesPerManifest,
  inOrder,
  type Leaf,
  manifestHash,
  manifestSeed,
  merkleRoot,
  pageLeaf,
  pagesPerManifest
} from "../domain/archive/Manifest.ts"
import type { ArchiveVerification, VerificationPlace } from "../domain/archive/Verification.ts"
import { writePlace } from "../domain/archive/Verification.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveManifests, type StoredManifest } from "../ports/archive/ArchiveManifests.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { roundRoot } from "./Manifests.ts"

/** Pages that the database hashes by one statement. */
const pagesAtOnce = 200
const roundsPerCall = 100

interface Counts {
  pages: number
  bytes: number
  missing: number
  changed: number
  added: number
  unproven: number
  notCovered: number
  coveredUntil: Date | null
  journaledUpTo: number
}

/** Compares the pages that a manifest covers; their leaves, bytes, and how many have other frames than their rows say. */
const comparePages = Effect.fnUntraced(function*(account: ArchivedAccount, { afterPage, lastPage }: StoredManifest) {
  const manifests = yield* ArchiveManifests
  const { sha256 } = yield* ArchiveCrypto
  const leaves: Array<Leaf> = []
  let after = afterPage
  let broken = 0
  let bytes = 0
  while (true) {
    const pages = yield* manifests.compared(account, { after, upTo: lastPage }, pagesAtOnce)
    for (const page of pages) {
      if (!page.isWhole) broken++
      bytes += page.bytes
      leaves.push({ pageId: page.pageId, leaf: yield* pageLeaf(sha256, page) })
      after = page.pageId
    }
    if (pages.length < pagesAtOnce) return { leaves, broken, bytes }
  }
})

/** Compares the pages of one manifest; `previous` is the hash before it. */
const compare = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  manifest: StoredManifest,
  previous: Uint8Array,
  counts: Counts
) {
  const { sha256 } = yield* ArchiveCrypto
  const { broken, bytes, leaves } = yield* comparePages(account, manifest)
  const gone = yield* (yield* ArchiveManifests).gone(account, { after: manifest.afterPage, upTo: manifest.lastPage })
  counts.pages += leaves.length
  counts.bytes += bytes
  const found = leaves.length + gone.length
  if (!sameBytes(manifest.hash, yield* manifestHash(sha256, previous, manifest.pages, manifest.root))) {
    counts.unproven++
    return
  }
  counts.missing += Math.max(0, manifest.pages - found)
  counts.added += Math.max(0, found - manifest.pages)
  const isSame = found === manifest.pages &&
    sameBytes(yield* merkleRoot(sha256, inOrder([...leaves, ...gone])), manifest.root)
  // One page at least where the tree differs, although each page agrees with its own digest.
  counts.changed += isSame || broken > 0 ? broken : found === manifest.pages ? 1 : 0
})

/** A call ends with the manifest that makes it so large: it compares as much as two manifests cover at most. */
const isEnough = ({ bytes, pages }: Counts) => pages >= pagesPerManifest || bytes >= bytesPerManifest

/** Compares an account's manifests after one, until the call has read enough; the place to go on from, or null. */
const verifyAccount = Effect.fnUntraced(function*(account: ArchivedAccount, from: bigint, counts: Counts) {
  const manifests = yield* ArchiveManifests
  const { sha256 } = yield* ArchiveCrypto
  const [before] = from === 0n ? [] : yield* manifests.after(account, from - 1n, 1)
  let previous = before?.hash ?? (yield* manifestSeed(sha256, account))
  let last = before
  let sequence = from
  while (!isEnough(counts)) {
    const [manifest] = yield* manifests.after(account, sequence, 1)
    if (manifest === undefined) {
      counts.notCovered += yield* manifests.countAfter(account, last?.lastPage ?? 0n)
      if (last !== undefined && (counts.coveredUntil === null || last.at < counts.coveredUntil)) {
        counts.coveredUntil = last.at
      }
      return null
    }
    if (manifest.sequence !== sequence + 1n || manifest.afterPage !== (last?.lastPage ?? 0n)) counts.unproven++
    yield* compare(account, manifest, previous, counts)
    previous = manifest.hash
    last = manifest
    sequence = manifest.sequence
  }
  return sequence
})

/** Compares the journal's rounds after one; the place to go on from. */
const verifyRounds = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  accountId: AccountId | null,
  after: bigint,
  counts: Counts
) {
  const manifests = yield* ArchiveManifests
  if (after === 0n) {
    counts.unproven += yield* manifests.unjournaled(organizationId)
    counts.missing += yield* manifests.unexplained(organizationId)
  }
  const rounds = yield* manifests.rounds(organizationId, accountId, after, roundsPerCall)
  for (const { root, round, sequence } of rounds) {
    const made = yield* roundRoot(organizationId, round)
    if (made.root !== root) counts.unproven += Math.max(1, made.manifests)
    counts.journaledUpTo = Math.max(counts.journaledUpTo, sequence)
  }
  const last = rounds.at(-1)
  return last === undefined || rounds.length < roundsPerCall ? null : last.round
})

const next = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  only: AccountId | null,
  place: VerificationPlace,
  counts: Counts
): Effect.fn.Return<VerificationPlace | null, never, ArchiveCrypto | ArchiveManifests> {
  const manifests = yield* ArchiveManifests
  if (place.step === "rounds") {
    const round = yield* verifyRounds(organizationId, only, place.round, counts)
    return round === null ? { step: "pages", accountId: "", sequence: 0n } : { step: "rounds", round }
  }
  let { accountId, sequence } = place
  if (accountId === "" || sequence === 0n) {
    const [found] = only === null
      ? yield* manifests.covered(organizationId, accountId, 1)
      : accountId === ""
      ? [only]
      : []
    if (found === undefined) return null
    accountId = found
    sequence = 0n
  }
  const account = { organizationId, accountId: AccountId.make(accountId) }
  const stopped = yield* verifyAccount(account, sequence, counts)
  return { step: "pages", accountId, sequence: stopped ?? 0n }
})

/** Verifies from a place on, as much as one call does; within the transaction of the organization. */
export const verify = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  accountId: AccountId | null,
  from: VerificationPlace
) {
  const counts: Counts = {
    pages: 0,
    bytes: 0,
    missing: 0,
    changed: 0,
    added: 0,
    unproven: 0,
    notCovered: 0,
    coveredUntil: null,
    journaledUpTo: 0
  }
  let place: VerificationPlace | null = from
  for (let steps = 0; place !== null && steps < roundsPerCall && !isEnough(counts); steps++) {
    place = yield* next(organizationId, accountId, place, counts)
  }
  const signed = yield* (yield* ArchiveManifests).signedUpTo(organizationId)
  return {
    object: "archive_verification",
    pages: counts.pages,
    missing: counts.missing,
    changed: counts.changed,
    added: counts.added,
    unproven: counts.unproven,
    not_covered: counts.notCovered,
    covered_until: counts.coveredUntil,
    checkpoint: signed !== null && signed.sequence >= counts.journaledUpTo ? signed : null,
    complete: place === null,
    cursor: place === null ? null : writePlace(place)
  } satisfies ArchiveVerification
})
