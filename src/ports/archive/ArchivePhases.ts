/** The phases of organizations' archives, which facts and time make, and the ones that were journaled last. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { ArchivePhase, OrganizationFacts } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

export interface NotedPhase {
  readonly facts: OrganizationFacts
  readonly noted: ArchivePhase
}

export class ArchivePhases extends Context.Service<ArchivePhases, {
  /** All organizations, outside any transaction. */
  readonly organizations: Effect.Effect<ReadonlyArray<NotedPhase>, ServiceUnavailable>
  /** Notes the phase within the organization's transaction: the one until now, or null where it is the same. */
  note(organizationId: OrganizationId, phase: ArchivePhase): Effect.Effect<ArchivePhase | null>
}>()("org-security-console/ports/archive/ArchivePhases") {}
