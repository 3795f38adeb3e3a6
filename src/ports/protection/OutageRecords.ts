/** The notices that organizations got while the messenger is away. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** Within the organization's transaction unless stated otherwise. */
export class OutageRecords extends Context.Service<OutageRecords, {
  /** Organizations that were notified, or that have watched accounts; outside a transaction. */
  organizations(which: "notified" | "watched"): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  isNotified(organizationId: OrganizationId): Effect.Effect<boolean>
  /** Marks the organization as notified, and returns how many accounts it has watched; null where it was before. */
  begin(organizationId: OrganizationId, now: Date): Effect.Effect<number | null>
  /** The organization is notified no more; false where it was not. */
  end(organizationId: OrganizationId): Effect.Effect<boolean>
  /**
   * Makes so many accounts due after one, null for the first, that were not seen, as they may be silent or lost by what
   * was before; returns the account to go on after, null at the end.
   */
  makeDue(
    organizationId: OrganizationId,
    after: string | null,
    limit: number,
    now: Date
  ): Effect.Effect<string | null>
}>()("org-security-console/ports/protection/OutageRecords") {}
