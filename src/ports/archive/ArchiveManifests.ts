/** Manifests as they are stored. All but `due` need the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { Leaf, PageFacts } from "../../domain/archive/Manifest.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** One manifest of an account: it covers the page ids above `afterPage`, up to `lastPage`. */
export interface StoredManifest {
  readonly accountId: AccountId
  readonly sequence: bigint
  readonly round: bigint
  readonly at: Date
  readonly afterPage: bigint
  readonly lastPage: bigint
  readonly pages: number
  readonly root: Uint8Array
  readonly hash: Uint8Array
}

/** Page ids above one and up to another. */
export interface PageRange {
  readonly after: bigint
  readonly upTo: bigint
}

/** A page as its row says it is, compared with its frames. */
export interface ComparedPage extends PageFacts {
  /** Its frames have the size and the digest that its row names. */
  readonly isWhole: boolean
}

/** A round as the journal has it: the root over its manifests in hex, and the event's sequence. */
export interface JournaledRound {
  readonly round: bigint
  readonly root: string
  readonly sequence: number
}

/** The newest signed checkpoint of the journal: up to which event, and when. */
export interface SignedUpTo {
  readonly number: number
  readonly sequence: number
  readonly at: Date
}

export class ArchiveManifests extends Context.Service<ArchiveManifests, {
  /** Organizations with an archive whose last round ended at the time or before. */
  due(endedBy: Date): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** The round that is to be made next; locks it for the rest of the transaction. */
  nextRound(organizationId: OrganizationId): Effect.Effect<bigint>
  /** Accounts with pages that no manifest covers, after one of them. */
  uncovered(organizationId: OrganizationId, after: string, limit: number): Effect.Effect<ReadonlyArray<AccountId>>
  /** Locks the account's archive, so that no page of it is being written; false where it is gone. */
  lock(account: ArchivedAccount): Effect.Effect<boolean>
  newest(account: ArchivedAccount): Effect.Effect<StoredManifest | null>
  /** The pages above `after` by their ids, without their frames. */
  pages(account: ArchivedAccount, after: bigint, limit: number): Effect.Effect<ReadonlyArray<PageFacts>>
  /** The leaves of pages that were deleted, with the deletion that has deleted each. */
  gone(account: ArchivedAccount, range: PageRange): Effect.Effect<ReadonlyArray<Leaf>>
  add(organizationId: OrganizationId, manifest: StoredManifest): Effect.Effect<void>
  /** The manifests of a round by account and sequence. */
  ofRound(
    organizationId: OrganizationId,
    round: bigint
  ): Effect.Effect<ReadonlyArray<Pick<StoredManifest, "accountId" | "hash" | "pages" | "sequence">>>
  endRound(organizationId: OrganizationId, round: bigint, now: Date): Effect.Effect<void>
  /** The organization's accounts with manifests, after one of them. */
  covered(organizationId: OrganizationId, after: string, limit: number): Effect.Effect<ReadonlyArray<AccountId>>
  /** An account's manifests after a sequence. */
  after(account: ArchivedAccount, sequence: bigint, limit: number): Effect.Effect<ReadonlyArray<StoredManifest>>
  /** Pages of the range by their ids. The database hashes their frames, which stay there. */
  compared(
    account: ArchivedAccount,
    range: PageRange,
    limit: number
  ): Effect.Effect<ReadonlyArray<ComparedPage>>
  /** Pages above an id. */
  countAfter(account: ArchivedAccount, page: bigint): Effect.Effect<number>
  /** The journal's rounds after one, or those alone in which manifests of the account were made. */
  rounds(
    organizationId: OrganizationId,
    accountId: AccountId | null,
    after: bigint,
    limit: number
  ): Effect.Effect<ReadonlyArray<JournaledRound>>
  /** Manifests of rounds that ended and that the journal does not have. */
  unjournaled(organizationId: OrganizationId): Effect.Effect<number>
  /** Deleted pages beyond those of the deletions that somebody is journaled to have begun. */
  unexplained(organizationId: OrganizationId): Effect.Effect<number>
  signedUpTo(organizationId: OrganizationId): Effect.Effect<SignedUpTo | null>
}>()("org-security-console/ports/archive/ArchiveManifests") {}
