/** The databases that tests run on: every migration applied, one fresh database per layer. */
import { Effect, Layer, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, inject } from "vitest"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import type { DatabaseUrlInvalid } from "../../../src/layers/postgres/Postgres.ts"
import { scratch } from "../run/scratch.ts"
import { createEmpty, lendServed, openEmbedded } from "./databasePool.ts"
import { ownerUrl, postgresLayer } from "./databaseRoles.ts"
import { DatabaseServer } from "./databaseServer.ts"

/** A layer that gives the `SqlClient` of a fresh database and leaves nothing behind. */
export type DatabaseLayer = Layer.Layer<SqlClient.SqlClient, SqlError.SqlError | DatabaseUrlInvalid>

const pgliteAs = (role: "console_owner" | "console_service"): DatabaseLayer => Pglite.layerFrom(openEmbedded, role)

/** A migrated PGlite in memory. */
export const pglite = pgliteAs("console_service")

/** Puts a migrated database into a data directory, so that what opens it does not have to make one. */
export const fillDirectory = (directory: string): void => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  // A quarter of what Node's own copying takes.
  childProcess.execFileSync("cp", ["-R", inject("databases").directory, path.join(directory, "database")])
}

const serviceUrl = (name: string): string => {
  const url = new URL(inject("databases").templateUrl)
  url.pathname = `/${name}`
  return url.href
}

/**
 * The service's address of an empty, migrated database on the run's PostgreSQL, nobody else's until the scope closes.
 */
export const postgresUrl: Effect.Effect<string, never, Scope.Scope> = Effect.map(lendServed, serviceUrl)

/** The service's address of a database without tables on the run's PostgreSQL, dropped when the scope closes. */
export const emptyUrl: Effect.Effect<string, never, Scope.Scope> = Effect.map(createEmpty, serviceUrl)

/** A migrated database of its own on the run's PostgreSQL 15. */
export const postgres: DatabaseLayer = Layer.unwrap(Effect.map(postgresUrl, postgresLayer))

/** Both databases for whoever owns the tables, and may make others. */
export const owners = {
  pglite: pgliteAs("console_owner"),
  postgres: Layer.unwrap(Effect.map(postgresUrl, (url) => postgresLayer(ownerUrl(url))))
}

/** Runs statements on the same database as the tables' owner, which the service is not. */
export const asOwner = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [session] = yield* Effect.orDie(sql<{ embedded: boolean; name: string }>`
      select session_user = 'postgres' as embedded, current_database() as name`)
    if (session?.embedded !== false) {
      return yield* sql`select set_config('role', 'console_owner', true)`.pipe(
        Effect.andThen(use(sql)),
        sql.withTransaction
      )
    }
    const url = new URL(ownerUrl(inject("databases").templateUrl))
    url.pathname = `/${session.name}`
    return yield* Effect.provide(SqlClient.SqlClient.use(use), postgresLayer(url.href), { local: true })
  })

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
  suite: (name: "PGlite" | "PostgreSQL", database: DatabaseLayer) => void,
  databases: { readonly pglite: DatabaseLayer; readonly postgres: DatabaseLayer } = { pglite, postgres }
): void => {
  describe("on PGlite", () => suite("PGlite", databases.pglite))
  describe("on PostgreSQL", () => suite("PostgreSQL", databases.postgres))
}

/**
 * Describes a suite of the specification on PostgreSQL, and on PGlite too where `TEST_DATABASES` is `all`: statements
 * are the same on both, and the properties of all operations are tested on both.
 */
export const forSpecification: typeof forEachDatabase = (suite, databases) => {
  if (process.env["TEST_DATABASES"] === "all") forEachDatabase(suite, databases)
  else describe("on PostgreSQL", () => suite("PostgreSQL", databases?.postgres ?? postgres))
}

/** A server of the test's own, to stop, kill, freeze and start again. */
export interface PrivateServer {
  readonly server: DatabaseServer
  /** The service's address of its migrated database. */
  readonly url: string
}

/** Starts a private server with a migrated database; both are gone when the scope closes. */
export const postgresServer = (
  options?: { readonly fsync?: boolean }
): Effect.Effect<PrivateServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() =>
        DatabaseServer.start({
          ...options,
          from: inject("databases").cluster,
          ...(options?.fsync === true ? {} : { folder: scratch })
        })
      ),
      (server) => Effect.promise(() => server.remove())
    )
    const url = server.url("console_template", "console")
    // A server that has just started answers its first session late.
    yield* Effect.orDie(
      Effect.provide(SqlClient.SqlClient.use((sql) => sql`select from organization`), postgresLayer(url))
    )
    return { server, url }
  })
