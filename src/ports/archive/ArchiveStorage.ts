/** The storage that archives of organizations take, summed over their accounts. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The sum of what the accounts take. */
export interface StorageSum {
  readonly used: number
  /** Null for no limit. */
  readonly limit: number | null
  /** It is near the limit, or at it. */
  readonly isNear: boolean
  /** The organization was told so. */
  readonly warned: boolean
}

/**
 * Accounts count what they take in the statements that add, rewrite and delete it. The organization's sum is made of
 * those counters apart from that, because a row that every message updates would let all accounts wait for each other.
 */
export class ArchiveStorage extends Context.Service<ArchiveStorage, {
  /** Organizations with an archive whose accounts take something else than their sum says, or that are to be told. */
  readonly due: Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** Locks the organization and stores the sum of its accounts, in the transaction that is open. */
  sum(organizationId: OrganizationId): Effect.Effect<StorageSum>
  /** Notes whether the organization was told, after `sum`. */
  setWarned(organizationId: OrganizationId, warned: boolean): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveStorage") {}
