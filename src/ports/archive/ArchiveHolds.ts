/** Holds of the archive. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { CleanupCriteria } from "../../domain/archive/ArchiveCleanup.ts"
import type { HeldRecords, HoldId, StoredHold } from "../../domain/archive/ArchiveHold.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** A page of holds, the newest first. */
export interface HoldQuery {
  readonly after: HoldId | undefined
  readonly limit: number
}

export type NewHold = Omit<StoredHold, "id" | "releasedAt">

/**
 * Law: what a transaction deletes after `binds` answered false is not held when it commits: a hold is placed before that
 * answer or after that commit. Nor are accounts after `free` named them.
 */
export class ArchiveHolds extends Context.Service<ArchiveHolds, {
  /** True if a hold, of an admin or of the operator, keeps any of the records. */
  binds(organizationId: OrganizationId, records: HeldRecords): Effect.Effect<boolean>
  /** Those of the accounts, in their order, of which no hold of an admin keeps anything of a day before `before`. */
  free(
    organizationId: OrganizationId,
    records: Pick<CleanupCriteria, "accountIds" | "before">
  ): Effect.Effect<ReadonlyArray<AccountId>>
  /** The holds after `after` whose accounts the caller can access, all of them; null where that is none of them. */
  list(caller: Caller["Service"], query: HoldQuery): Effect.Effect<ReadonlyArray<StoredHold> | null>
  /** The hold for the rest of the transaction; null where the caller cannot access all its accounts. */
  lock(caller: Caller["Service"], id: HoldId): Effect.Effect<StoredHold | null>
  /** True if the caller can access all these accounts, and they are there; for null, all that there are. */
  reaches(caller: Caller["Service"], accountIds: ReadonlyArray<string> | null): Effect.Effect<boolean>
  /** The id of the new hold. */
  add(organizationId: OrganizationId, hold: NewHold): Effect.Effect<HoldId>
  release(organizationId: OrganizationId, id: HoldId, now: Date): Effect.Effect<void>
  /** Places the operator's hold on the whole archive, or releases it; false where it is so already. */
  holdAll(organizationId: OrganizationId, heldAt: Date | null): Effect.Effect<boolean>
}>()("org-security-console/ports/archive/ArchiveHolds") {}
