import { Effect, Layer, Scope } from "effect"
import { archiveSearchesAtOnce } from "../../domain/Limits.ts"
import { SearchTurns } from "../../ports/archive/SearchTurns.ts"
import { makeTurns } from "./OrganizationTurns.ts"

export const layer = Layer.sync(SearchTurns, () => {
  const take = makeTurns({ each: archiveSearchesAtOnce, all: Infinity, most: Infinity, retryAfter: 1 })
  return SearchTurns.of({
    run: (organizationId, search) =>
      Effect.scopedWith((scope) => Effect.andThen(Scope.provide(take(organizationId), scope), search))
  })
})
