import { Effect, Layer } from "effect"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import { archiveSearchesAtOnce } from "../../domain/Limits.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { SearchTurns } from "../../ports/archive/SearchTurns.ts"

/** Counted in the process. */
export const layer = Layer.sync(SearchTurns, () => {
  const running = new Map<OrganizationId, number>()
  const change = (organizationId: OrganizationId, by: number) => {
    const now = (running.get(organizationId) ?? 0) + by
    if (now === 0) running.delete(organizationId)
    else running.set(organizationId, now)
  }
  return SearchTurns.of({
    run: <A, E, R>(organizationId: OrganizationId, search: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> => {
        if ((running.get(organizationId) ?? 0) >= archiveSearchesAtOnce) {
          return Effect.fail(new ServiceUnavailable({ retry_after: 1 }))
        }
        change(organizationId, 1)
        return Effect.ensuring(search, Effect.sync(() => change(organizationId, -1)))
      })
  })
})
