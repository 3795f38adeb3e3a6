import { Effect, type Scope } from "effect"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The most that runs at the same time. */
interface TurnLimits {
  /** Of one organization. */
  readonly each: number
  /** Of all of them: one more of an organization that has any. */
  readonly all: number
  /** Of all of them: the first of an organization. */
  readonly most: number
  /** The seconds after which one that is refused is tried again. */
  readonly retryAfter: number
}

/** Turns that are counted in the process: one is held until the scope ends, and one too many is refused immediately. */
export const makeTurns = ({ all, each, most, retryAfter }: TurnLimits) => {
  const running = new Map<OrganizationId, number>()
  let total = 0
  const change = (organizationId: OrganizationId, by: 1 | -1) => {
    const now = (running.get(organizationId) ?? 0) + by
    if (now === 0) running.delete(organizationId)
    else running.set(organizationId, now)
    total += by
  }
  return (organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const own = running.get(organizationId) ?? 0
        return own >= each || total >= (own === 0 ? most : all)
          ? Effect.fail(new ServiceUnavailable({ retry_after: retryAfter }))
          : Effect.sync(() => change(organizationId, 1))
      }),
      () => Effect.sync(() => change(organizationId, -1))
    )
}
