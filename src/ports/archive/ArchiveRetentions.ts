/** Retentions of archives. All but `due` need the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { StoredCleanup } from "../../domain/archive/ArchiveCleanup.ts"
import type { StoredRetention } from "../../domain/archive/Retention.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** A run of a retention: it goes through the accounts, some in each transaction. */
export interface RetentionRun {
  readonly days: number
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
  /** Accounts, after one of them, that have something of a day before `before`, of which no hold keeps anything. */
  accounts(
    organizationId: OrganizationId,
    before: string,
    after: string,
    limit: number
  ): Effect.Effect<ReadonlyArray<AccountId>>
  /** The run goes on after the account. */
  reach(organizationId: OrganizationId, accountId: AccountId): Effect.Effect<void>
  /** Ends the run; the cleanups that wait because of it, or null where nothing is due. */
  end(organizationId: OrganizationId, day: string): Effect.Effect<WaitingCleanups | null>
}>()("org-security-console/ports/archive/ArchiveRetentions") {}
