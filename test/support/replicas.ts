/** Replicas of the service on PostgreSQL, each with connections of its own. */
import { Effect, Layer, type Scope } from "effect"
import * as Worker from "../../src/layers/Worker.ts"
import { postgresUrl } from "./postgres/database.ts"
import { postgresLayer } from "./postgres/databaseRoles.ts"
import * as World from "./world.ts"

/** A replica of a layer, as what runs effects in it; it works until the scope ends. */
export const running = <A, E>(
  layer: Layer.Layer<A, E>
): Effect.Effect<<B, F, R>(effect: Effect.Effect<B, F, R>) => Effect.Effect<B, F, Exclude<R, A>>, E, Scope.Scope> =>
  Effect.map(
    Layer.build(Layer.fresh(layer)),
    (context) => (effect) => Effect.provideContext(effect, context)
  )

/** A replica on the database of the URL. */
export const replica = (url: string) => running(World.world(postgresLayer(url)))

/** One that watches the accounts too. */
const worker = (url: string) => running(Worker.layer().pipe(Layer.provideMerge(World.world(postgresLayer(url)))))

/** Two replicas on one database. */
export const replicas = Effect.flatMap(postgresUrl, (url) => Effect.all([replica(url), replica(url)]))

/** Two that watch the accounts of one database. */
export const workers = Effect.flatMap(postgresUrl, (url) => Effect.all([worker(url), worker(url)]))
