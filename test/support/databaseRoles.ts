/** What an administrator does once on a server: the two roles and a database. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../src/layers/sql/Postgres.ts"
import type { DatabaseServer } from "./databaseServer.ts"

/** The client of a database by its address. */
export const postgresLayer = (url: string) => Postgres.layer({ url: Redacted.make(url), maxConnections: 10 })

/** Makes `console_app`, the owner `console` and a database of that owner, whose address it answers. */
export const createConsole = async (server: DatabaseServer, database: string): Promise<string> => {
  await Effect.runPromise(
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create role console_app nologin`
      yield* sql`create role console login password ${sql.literal(`'${server.password}'`)} in role console_app`
      yield* sql`create database ${sql(database)} owner console`
    }).pipe(Effect.provide(postgresLayer(server.url())))
  )
  return server.url(database, "console")
}
