import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import { owners, postgresServer } from "../../support/postgres/database.ts"

const statement = (text: string) => SqlClient.SqlClient.use((sql) => sql.unsafe(text))

const first: Migrate.Migrations = {
  "0001_create_note": statement("create table note (id int8)"),
  "0002_add_name": statement("alter table note add column name text")
}
const second: Migrate.Migrations = { ...first, "0003_fill_note": statement("insert into note (id) values (1)") }
const broken: Migrate.Migrations = {
  ...first,
  "0003_create_draft": statement("create table draft (id int8)"),
  "0004_fail": statement("select nothing")
}

describe("Migrate", () => {
  const emptySchema = Layer.provideMerge(
    Layer.effectDiscard(Effect.andThen(statement("create schema bare"), statement("set search_path = bare"))),
    owners.pglite
  )
  const withoutTables = Layer.unwrap(Effect.gen(function*() {
    const { server } = yield* postgresServer()
    const admin = Postgres.layer({ url: Redacted.make(server.url()) })
    yield* Effect.provide(
      SqlClient.SqlClient.use((sql) => sql`create database bare owner console_owner`),
      admin
    )
    return Postgres.layer({ url: Redacted.make(server.url("bare", "console_owner")), maxConnections: 4 })
  }))

  for (const [name, database] of [["PGlite", emptySchema], ["PostgreSQL", withoutTables]] as const) {
    describe(`on ${name}`, () => {
      layer(Layer.orDie(database))((it) => {
        it.effect("runs what is missing, once and in order, all or nothing, and knows the current version", () =>
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            expect(yield* Migrate.state(first)).toEqual({ applied: 0, known: 2 })
            expect((yield* Effect.flip(Migrate.check(first))).message).toContain("start it with --migrate")
            expect(yield* Migrate.run(first)).toEqual([[1, "create_note"], [2, "add_name"]])
            expect(yield* Migrate.run(first)).toEqual([])
            yield* Migrate.check(first)

            expect(yield* Effect.flip(Migrate.run(broken))).toMatchObject({ _tag: "MigrationError", kind: "Failed" })
            expect(yield* Migrate.state(broken)).toEqual({ applied: 2, known: 4 })
            expect(yield* sql`select to_regclass('draft')::text as draft`).toEqual([{ draft: null }])

            expect(yield* Effect.flip(Migrate.check(second))).toMatchObject({
              _tag: "SchemaOlder",
              applied: 2,
              known: 3
            })
            expect(yield* Migrate.run(second)).toEqual([[3, "fill_note"]])
            const newer = { _tag: "SchemaNewer", applied: 3, known: 2 }
            expect(yield* Effect.flip(Migrate.run(first))).toMatchObject(newer)
            expect(yield* Effect.flip(Migrate.check(first))).toMatchObject(newer)
          }))
      })
    })
  }

  it.live("lets one of several processes migrate, while the others wait and then find nothing to do", () =>
    Effect.gen(function*() {
      const { server } = yield* postgresServer()
      const admin = Postgres.layer({ url: Redacted.make(server.url()) })
      yield* Effect.provide(SqlClient.SqlClient.use((sql) => sql`create database bare owner console_owner`), admin)
      const slow: Migrate.Migrations = {
        "0001_create_note": statement("create table note (id int8)"),
        "0002_wait": statement("select pg_sleep(0.3)"),
        "0003_fill_note": statement("insert into note (id) values (1)")
      }
      const migrator = Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const ran = yield* Migrate.run(slow)
        return { ran: ran.length, notes: yield* sql`select id from note` }
      }).pipe(
        Effect.provide(Postgres.layer({ url: Redacted.make(server.url("bare", "console_owner")) }), { local: true })
      )
      const results = yield* Effect.forEach([1, 2, 3, 4], () => migrator, { concurrency: "unbounded" })
      expect(results.map(({ ran }) => ran).sort()).toEqual([0, 0, 0, 3])
      expect(results.map(({ notes }) => notes)).toEqual(Array.from({ length: 4 }, () => [{ id: 1 }]))
    }))
})
