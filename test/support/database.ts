/** The databases that tests run on: every migration applied, one fresh database per layer. */
import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { describe, inject } from "vitest"
import * as Migrate from "../../src/layers/sql/Migrate.ts"
import { migrations } from "../../src/layers/sql/migrations/index.ts"
import * as Pglite from "../../src/layers/sql/Pglite.ts"
import type { DatabaseUrlInvalid } from "../../src/layers/sql/Postgres.ts"
import { createConsole, postgresLayer } from "./databaseRoles.ts"
import { DatabaseServer } from "./databaseServer.ts"

/** A layer that gives the `SqlClient` of a fresh database and leaves nothing behind. */
export type DatabaseLayer = Layer.Layer<SqlClient.SqlClient, SqlError.SqlError | DatabaseUrlInvalid>

/** A migrated PGlite in memory. */
export const pglite: DatabaseLayer = Pglite.layerFrom(() =>
  PGlite.create({
    loadDataDir: new Blob([fs.readFileSync(inject("databases").dump)]),
    extensions: Pglite.extensions
  })
)

const admin = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(effect, postgresLayer(inject("databases").adminUrl))

/** The owner's address of a fresh, migrated database on the run's PostgreSQL, dropped when the scope closes. */
export const postgresUrl: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`
  const { templateUrl } = inject("databases")
  const make = SqlClient.SqlClient.use((sql) =>
    sql`create database ${sql(name)} template console_template owner console`
  )
  const drop = SqlClient.SqlClient.use((sql) => sql`drop database ${sql(name)} with (force)`)
  yield* Effect.acquireRelease(Effect.orDie(admin(make)), () => Effect.orDie(admin(drop)))
  const url = new URL(templateUrl)
  url.pathname = `/${name}`
  return url.href
})

/** A migrated database of its own on the run's PostgreSQL 15. */
export const postgres: DatabaseLayer = Layer.unwrap(Effect.map(postgresUrl, postgresLayer))

/**
 * Describes the same suite once for each database.
 *
 * ```ts
 * forEachDatabase((name, database) => {
 *   layer(Accounts.layer.pipe(Layer.provideMerge(database)))((it) => {
 *     it.effect("lists accounts", () => ...)
 *   })
 * })
 * ```
 */
export const forEachDatabase = (
  suite: (name: "PGlite" | "PostgreSQL", database: DatabaseLayer) => void
): void => {
  describe("on PGlite", () => suite("PGlite", pglite))
  describe("on PostgreSQL", () => suite("PostgreSQL", postgres))
}

/** A server of the test's own, to stop, kill, freeze and start again. */
export interface PrivateServer {
  readonly server: DatabaseServer
  /** The owner's address of its migrated database. */
  readonly url: string
}

/** Starts a private server with a migrated database; both are gone when the scope closes. */
export const postgresServer = (
  options?: { readonly fsync?: boolean }
): Effect.Effect<PrivateServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => DatabaseServer.start(options)),
      (server) => Effect.promise(() => server.remove())
    )
    const url = yield* Effect.promise(() => createConsole(server, "console"))
    yield* Effect.orDie(Effect.provide(Migrate.run(migrations), postgresLayer(url)))
    return { server, url }
  })
