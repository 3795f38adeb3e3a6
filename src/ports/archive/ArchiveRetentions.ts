/** Retentions of archives. All but `due` need the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { StoredCleanup } from "../../domain/archive/ArchiveCleanup.ts"
import type { KeptDays, StoredRetention } from "../../domain/archive/Retention.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Tier } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** A run of a retention: it goes through the accounts, some in each transaction. */
export interface RetentionRun extends KeptDays {
  /** The last account that it has reached; empty at its beginning. */
  readonly reached: AccountId | ""
}

/** Sums of the retention's cleanups that have not begun, and the time at which the first of them may. */
export interface WaitingCleanups {
  readonly accounts: number
  readonly messages: number
  readonly files: number
  readonly notBefore: Date
}

export interface RetainedAccount {
  readonly id: AccountId
  readonly tier: Tier | null
}

export class ArchiveRetentions extends Context.Service<ArchiveRetentions, {
  find(organizationId: OrganizationId): Effect.Effect<StoredRetention | null>
  /** As `find`, for the rest of the transaction. */
  lock(organizationId: OrganizationId): Effect.Effect<StoredRetention | null>
  /** Sets it; null keeps everything. */
  set(organizationId: OrganizationId, retention: StoredRetention | null): Effect.Effect<void>
  /** The retention's cleanups that have not begun, locked; asked together with `lock`, after it. */
  lockWaiting(
    organizationId: OrganizationId
  ): Effect.Effect<ReadonlyArray<Pick<StoredCleanup, "accountIds" | "id">>>
  /** Cancels these cleanups. */
  cancelWaiting(organizationId: OrganizationId, now: Date): Effect.Effect<void>
  /**
   * Organizations of which a run has not ended, or is due: on another day, `YYYY-MM-DD`, than the last, once all
   * cleanups of the run before have ended.
   */
  due(day: string): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** The run of an organization that is due, locked; null where another process has ended it. */
  take(organizationId: OrganizationId, day: string): Effect.Effect<RetentionRun | null>
  /**
   * Accounts, after one of them, that have something of a day that is not kept at a time, of which no hold keeps
   * anything, with the tiers of their licences.
   */
  accounts(
    organizationId: OrganizationId,
    kept: KeptDays,
    at: Date,
    after: string,
    limit: number
  ): Effect.Effect<ReadonlyArray<RetainedAccount>>
  /** Those of the accounts of which the retention keeps nothing of the days before `before` at a time, as it is now. */
  notKept(
    organizationId: OrganizationId,
    accountIds: ReadonlyArray<AccountId>,
    before: string,
    at: Date
  ): Effect.Effect<ReadonlyArray<AccountId>>
  /** The run goes on after the account. */
  reach(organizationId: OrganizationId, accountId: AccountId): Effect.Effect<void>
  /** Ends the run; the cleanups that wait because of it, or null where nothing is due. */
  end(organizationId: OrganizationId, day: string): Effect.Effect<WaitingCleanups | null>
}>()("org-security-console/ports/archive/ArchiveRetentions") {}
