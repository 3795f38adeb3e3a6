/** The stage of the properties on a database of the test run. */
import { Context, Effect, Layer } from "effect"
import * as Mcp from "../../mcp/support.ts"
import { postgresUrl } from "../postgres/database.ts"
import { postgresLayer } from "../postgres/databaseRoles.ts"
import { superuserUrlHere } from "../postgres/superuser.ts"
import * as World from "../world.ts"
import { oversee } from "./rewind.ts"
import { make, type Stage } from "./stage.ts"

/** So many organizations in a database of PostgreSQL. */
export class Staged extends Context.Service<Staged, Stage>()("test/support/properties/staged/Staged") {
  static readonly layer = (organizations: number) =>
    Layer.effect(Staged, staged(organizations)).pipe(
      Layer.provideMerge(World.world(Layer.unwrap(Effect.map(postgresUrl, postgresLayer))))
    )
}

const staged = Effect.fnUntraced(function*(organizations: number) {
  const url = yield* superuserUrlHere
  const overseer = yield* Effect.acquireRelease(
    Effect.promise(() => oversee(url)),
    (overseer) => Effect.promise(() => overseer.end())
  )
  return yield* make(overseer, organizations)
})

/** Makes the service once for all requests of the effect. */
export const prepared = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Mcp.webHandler(), (handler) => Effect.provideService(effect, World.Prepared, handler))
