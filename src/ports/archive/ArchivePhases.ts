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
  /** The organization, locked for the rest of its transaction. */
  lock(organizationId: OrganizationId): Effect.Effect<NotedPhase>
  /** The phase was journaled, within the organization's transaction. */
  note(organizationId: OrganizationId, phase: ArchivePhase): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchivePhases") {}
