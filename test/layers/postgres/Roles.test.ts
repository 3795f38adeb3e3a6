import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Roles from "../../../src/layers/postgres/Roles.ts"
import { postgres } from "../../support/postgres/database.ts"
import { DatabaseServer } from "../../support/postgres/databaseServer.ts"

const bareServer = Effect.acquireRelease(
  Effect.promise(() => DatabaseServer.start()),
  (server) => Effect.promise(() => server.remove())
)

const ensure = Roles.ensure({ alone: true })

describe("Roles", () => {
  it.live("accepts the service's role as it is made", () => Effect.provide(Roles.check, postgres))

  it.live("refuses a role above row security, a missing console_app and a stranger, with the lines that help", () =>
    Effect.gen(function*() {
      const server = yield* bareServer
      const as = (user: string) =>
        Postgres.layer({ url: Redacted.make(server.url("postgres", user)), maxConnections: 1 })
      const admin = (text: string) => Effect.provide(SqlClient.SqlClient.use((sql) => sql.unsafe(text)), as("postgres"))
      const login = `login password '${server.password}'`

      for (const step of [Roles.check, ensure]) {
        expect(yield* Effect.flip(Effect.provide(step, as("postgres")))).toMatchObject({
          _tag: "RoleBypassesRowSecurity",
          role: "postgres",
          message: expect.stringContaining("create database console owner console_owner;")
        })
      }
      yield* admin(`create role above ${login} bypassrls`)
      expect(yield* Effect.flip(Effect.provide(Roles.check, as("above")))).toMatchObject({
        _tag: "RoleBypassesRowSecurity"
      })

      yield* admin(`create role "Plain" ${login}`)
      const missing = yield* Effect.flip(Effect.provide(ensure, as("Plain")))
      expect(missing).toMatchObject({ _tag: "RolesMissing", role: "Plain" })
      expect(missing.message.split("\n").slice(1)).toEqual([
        "create role console_app nologin;",
        "create role console_service nologin noinherit in role console_app;",
        "grant console_service to \"Plain\";"
      ])
      yield* admin("create role console_app nologin")
      yield* admin("create role console_service nologin noinherit")
      const stranger = yield* Effect.flip(Effect.provide(ensure, as("Plain")))
      expect(stranger.message.split("\n").slice(1)).toEqual([
        "grant console_app to console_service;",
        "grant console_service to \"Plain\";"
      ])
      expect(yield* Effect.flip(Effect.provide(Roles.ensure({ alone: false }), as("Plain")))).toMatchObject({
        statements: ["grant console_app to console_service;"]
      })
      for (const line of stranger.message.split("\n").slice(1)) yield* admin(line)
      yield* Effect.provide(ensure, as("Plain"))

      yield* admin("drop role console_service")
      yield* admin("drop role console_app")
      yield* admin(`create role maker ${login} createrole`)
      expect(yield* Effect.flip(Effect.provide(Roles.check, as("maker")))).toMatchObject({ _tag: "RolesMissing" })
      yield* Effect.provide(ensure, as("maker"))
      yield* Effect.provide(Roles.check, as("maker"))
    }))
})
