/** The checks of journals' chains. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The first event from which on a chain is broken, and the fault. */
export interface BrokenChain {
  readonly ok: false
  readonly sequence: number
  readonly reason: string
}

export class ChainChecks extends Context.Service<ChainChecks, {
  /** Journals that were not checked since the moment, those that never were first. */
  due(until: Date, limit: number): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /**
   * Reads the journal to its end, compares it with the head while nothing is appended, and stores the result: null, or
   * the fault.
   */
  check(organizationId: OrganizationId, now: Date): Effect.Effect<BrokenChain | null, ServiceUnavailable>
  /** Counts the broken chains, for the metric. */
  readonly count: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/journal/ChainChecks") {}
