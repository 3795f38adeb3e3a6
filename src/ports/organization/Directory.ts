/** The organizations of the service, as its operator sees them. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationChanges, OrganizationSummary, Tier } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** An organization that is licensed by agreement. */
export interface NewOrganization {
  readonly id: OrganizationId
  readonly name: string
  readonly plan: Tier
  readonly seats: number
  /** Null for open-ended. */
  readonly validUntil: Date | null
}

/** Reads run outside any transaction, changes within the organization's. */
export class Directory extends Context.Service<Directory, {
  /** Every organization, the oldest first. */
  readonly organizations: Effect.Effect<ReadonlyArray<OrganizationSummary>, ServiceUnavailable>
  /** The organization of an id, if there is one. */
  find(id: string): Effect.Effect<OrganizationSummary | null, ServiceUnavailable>
  /** Makes an active organization; false where there is one of that id. */
  create(organization: NewOrganization, now: Date): Effect.Effect<boolean>
  update(id: OrganizationId, changes: OrganizationChanges): Effect.Effect<void>
}>()("org-security-console/ports/organization/Directory") {}
