/** What an administrator does once on a server: the roles and a database. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../../src/layers/postgres/migrations.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Roles from "../../../src/layers/postgres/Roles.ts"
import type { DatabaseServer } from "./databaseServer.ts"

/** The client of a database by its address; the service's login role takes on the service's role. */
export const postgresLayer = (url: string) =>
  Postgres.layer({
    url: Redacted.make(url),
    maxConnections: 10,
    ...(new URL(url).username === "console" ? { role: Roles.service } : {})
  })

/** The address of the same database for the role that owns its tables. */
export const ownerUrl = (url: string): string => {
  const owner = new URL(url)
  owner.username = "console_owner"
  return owner.href
}

/** Creates the tables, with those of the simulated messenger, as the role that owns them. */
export const migrate = (url: string) =>
  Effect.provide(Effect.andThen(Migrate.run(migrations), Migrate.simulate), postgresLayer(ownerUrl(url)))

/**
 * Makes the service's roles, the owner `console_owner` and a database of that owner; answers its address for the
 * service's login role `console`, which owns nothing.
 */
export const createConsole = async (server: DatabaseServer, database: string): Promise<string> => {
  await Effect.runPromise(
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const password = sql.literal(`'${server.password}'`)
      yield* sql`create role console_app nologin`
      yield* sql`create role console_service nologin noinherit in role console_app`
      yield* sql`create role console_owner login password ${password}`
      yield* sql`create role console login password ${password} in role console_service`
      yield* sql`create database ${sql(database)} owner console_owner`
    }).pipe(Effect.provide(postgresLayer(server.url())))
  )
  return server.url(database, "console")
}
