/** Replicas of the service on PostgreSQL, each with connections of its own. */
import { Effect, Layer } from "effect"
import { postgresUrl } from "./database.ts"
import { postgresLayer } from "./databaseRoles.ts"
import * as World from "./world.ts"

/** A replica on the database of the URL, as what runs effects in it; it works until the scope ends. */
export const replica = (url: string) =>
  Effect.map(
    Layer.build(Layer.fresh(World.world(postgresLayer(url)))),
    (context) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, context)
  )

/** Two replicas on one database. */
export const replicas = Effect.flatMap(postgresUrl, (url) => Effect.all([replica(url), replica(url)]))
