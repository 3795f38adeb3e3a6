/** Deletions of all that is archived, of an account or of an organization: first the keys, then what they opened. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"

/** Counts of what was deleted. */
export interface DeletedRecords {
  readonly pages: number
  readonly messages: number
  readonly files: number
  readonly bytes: number
}

/** A deletion that is not finished; of the whole archive where there is no account. */
export interface ArchiveDeletion {
  readonly organizationId: OrganizationId
  readonly id: string
  readonly accountId: AccountId | null
}

/** The details of the event that begins a deletion. */
export type BegunDeletion = Readonly<Record<"deletion", string>>

/**
 * Law: from the commit of the transaction that begins a deletion nothing opens any key of what it deletes, and nothing more
 * is written under one. All but `due` need the transaction of the organization.
 */
export class ArchiveDeletions extends Context.Service<ArchiveDeletions, {
  /** Locks the archive of the account, which the caller has locked itself, and shreds its keys. */
  beginAccount(organizationId: OrganizationId, accountId: AccountId, now: Date): Effect.Effect<BegunDeletion>
  /**
   * Locks every archive of the organization, which the caller has locked, and whose archive keys it drops. From then on
   * `Epochs` has their epochs closed and without keys; `deleteSome` deletes these before all else.
   */
  beginWhole(organizationId: OrganizationId, now: Date): Effect.Effect<BegunDeletion>
  /** Unfinished deletions of all organizations: the oldest of each, then the second of each. */
  due(limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /** Locks the deletion and then its organization; null where it is finished, or another process is at it. */
  take(organizationId: OrganizationId, id: string): Effect.Effect<ArchiveDeletion | null>
  /** Deletes at most so many rows of one kind and counts them; the number of rows, 0 once none of any kind is left. */
  deleteSome(deletion: ArchiveDeletion, limit: number, now: Date): Effect.Effect<number>
  /** Ends a deletion of which nothing is left; what it has deleted. */
  finish(deletion: ArchiveDeletion, now: Date): Effect.Effect<DeletedRecords>
}>()("org-security-console/ports/archive/ArchiveDeletions") {}
