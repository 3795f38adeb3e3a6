import { Effect, Layer } from "effect"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import { exportPartsAtOnce, exportPartsOfOrganization } from "../../domain/Limits.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ExportTurns } from "../../ports/archive/ExportTurns.ts"

/** Counted in the process. */
export const layer = Layer.sync(ExportTurns, () => {
  const running: Array<OrganizationId> = []
  return ExportTurns.of({
    take: (organizationId) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const own = running.filter((id) => id === organizationId).length
          if (own >= exportPartsOfOrganization || running.length >= exportPartsAtOnce) {
            return Effect.fail(new ServiceUnavailable({ retry_after: 5 }))
          }
          return Effect.sync(() => void running.push(organizationId))
        }),
        () => Effect.sync(() => void running.splice(running.indexOf(organizationId), 1))
      )
  })
})
