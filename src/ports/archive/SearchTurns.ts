/** The number of searches of an organization's archive at a time. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

export class SearchTurns extends Context.Service<SearchTurns, {
  /** Runs the search, or fails immediately where as many run in this process as may. */
  run<A, E, R>(
    organizationId: OrganizationId,
    search: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ServiceUnavailable, R>
}>()("org-security-console/ports/archive/SearchTurns") {}
