/** The counts and facts for an organization's status, and its subscription. */
import { Context, type Effect } from "effect"
import type { StatusSample } from "../../domain/accounts/StatusHistory.ts"
import type { BillingLink } from "../../domain/organization/Billing.ts"
import type { BillingFacts, OrganizationFacts } from "../../domain/organization/Organization.ts"
import type { OverviewFacts } from "../../domain/organization/StatusOverview.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** Counts of what the caller can access, and facts of the subscription. */
export class Overview extends Context.Service<Overview, {
  facts(caller: Caller["Service"], organization: OrganizationFacts, now: Date): Effect.Effect<OverviewFacts>
  /**
   * The account statuses of the whole organization since then, the oldest first; only for callers who can access all
   * accounts.
   */
  history(organizationId: OrganizationId, since: Date): Effect.Effect<ReadonlyArray<StatusSample>>
  billing(organizationId: OrganizationId): Effect.Effect<BillingFacts>
}>()("org-security-console/ports/organization/StatusOverview/Overview") {}

/** The pages of the billing, as they are configured. */
export const BillingPages = Context.Reference<ReadonlyArray<BillingLink>>(
  "org-security-console/ports/organization/StatusOverview/BillingPages",
  {
    defaultValue: () => []
  }
)
