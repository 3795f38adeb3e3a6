/**
 * The embedded database as programs use it. PGlite is loaded where one is opened, and its own declarations, which need
 * those of others, stay behind it.
 */
import { Effect, Layer } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { DirectoryInUse, DirectoryOpen, WhenInUse } from "./DirectoryLock.ts"

const loaded = Effect.promise(() => import("./Pglite.ts"))

export interface Options {
  readonly directory: string
  readonly whenInUse?: WhenInUse
}

/** The `SqlClient` of the embedded database in a directory, which it creates with mode 0700 and locks. */
export const layer: (
  options: Options
) => Layer.Layer<SqlClient.SqlClient, DirectoryInUse | DirectoryOpen | SqlError.SqlError> = (options) =>
  Layer.unwrap(Effect.map(loaded, (Pglite) => Pglite.layer(options)))

/** The `SqlClient` of a new, empty embedded database in memory. */
export const layerMemory: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> = Layer.unwrap(
  Effect.map(loaded, (Pglite) => Pglite.layerMemory)
)
