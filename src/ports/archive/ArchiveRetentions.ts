/** Retentions of archives. All but `due` need the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { StoredRetention } from "../../domain/archive/Retention.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

export class ArchiveRetentions extends Context.Service<ArchiveRetentions, {
  find(organizationId: OrganizationId): Effect.Effect<StoredRetention | null>
  /** As `find`, for the rest of the transaction. */
  lock(organizationId: OrganizationId): Effect.Effect<StoredRetention | null>
  /** Sets it; null keeps everything. */
  set(organizationId: OrganizationId, retention: StoredRetention | null): Effect.Effect<void>
  /** Organizations whose retention has begun, and was not applied on the day, `YYYY-MM-DD`. */
  due(now: Date, day: string): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /**
   * Accounts, after one of them, that have something of a day before `before`, that no hold keeps any of it, and that no
   * cleanup waits for.
   */
  accounts(
    organizationId: OrganizationId,
    before: string,
    after: string,
    limit: number
  ): Effect.Effect<ReadonlyArray<AccountId>>
  markApplied(organizationId: OrganizationId, day: string): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveRetentions") {}
