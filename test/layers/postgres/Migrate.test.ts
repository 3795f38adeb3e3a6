import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import { asOwner, emptyUrl, owners, postgres } from "../../support/postgres/database.ts"
import { openEmpty } from "../../support/postgres/databasePool.ts"
import { ownerUrl, postgresLayer } from "../../support/postgres/databaseRoles.ts"

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
  const embedded = Pglite.layerFrom(openEmpty)
  const served = Layer.unwrap(Effect.map(emptyUrl, (url) => postgresLayer(ownerUrl(url))))

  for (const [name, database] of [["PGlite", embedded], ["PostgreSQL", served]] as const) {
    describe(`on ${name}`, () => {
      layer(Layer.orDie(database))((it) => {
        it.effect("creates the tables, then runs the missing migrations, once and in order, all or nothing", () =>
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            expect(yield* Migrate.state(first)).toEqual({ applied: null, known: 2 })
            expect((yield* Effect.flip(Migrate.check(first))).message).toContain("start it with --migrate")
            expect(yield* Migrate.run({})).toEqual([[0, "baseline"]])
            yield* Migrate.check({})
            expect((yield* Effect.flip(Migrate.check(first))).message).toContain("is at 0, and this program needs 2")
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

        it.effect("creates the tables of the simulated messenger only when they are asked for, and once", () =>
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            const simulated = sql<{ tables: number }>`
              select count(*)::int as tables from pg_class where relname ~ '^simulated_' and relkind = 'r'`
            yield* Migrate.run(second)
            expect(yield* simulated).toEqual([{ tables: 0 }])
            expect(yield* Migrate.simulate).toBe(true)
            expect(yield* simulated).toEqual([{ tables: 9 }])
            expect(yield* Migrate.simulate).toBe(false)
          }))
      })
    })
  }

  layer(owners.postgres)((it) => {
    it.effect("refuses the tables of a version before the first release, in one line", () =>
      Effect.gen(function*() {
        yield* statement("update schema_migration set migration_id = 59")
        for (const migrations of [{}, first]) {
          const answers: ReadonlyArray<Effect.Effect<unknown, unknown, SqlClient.SqlClient>> = [
            Migrate.run(migrations),
            Migrate.check(migrations),
            Migrate.state(migrations)
          ]
          for (const answer of answers) {
            expect(yield* Effect.flip(answer)).toMatchObject({
              _tag: "SchemaUnreleased",
              message: expect.stringMatching(/^The database was made by a version before the first release, .+\.$/)
            })
          }
        }
      }))
  })

  it.effect("names the command that creates the simulated messenger's tables, where the service may not", () =>
    Effect.gen(function*() {
      yield* asOwner((sql) => sql`drop table simulated_platform`)
      const refused = yield* Effect.flip(Migrate.simulate)
      expect(refused).toMatchObject({ _tag: "SimulatedTablesMissing" })
      expect(refused.message).toContain("security-console migrate --simulated")
    }).pipe(Effect.provide(postgres)))

  it.live("lets one of several processes migrate, while the others wait and then find nothing to do", () =>
    Effect.gen(function*() {
      const url = ownerUrl(yield* emptyUrl)
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
        Effect.provide(postgresLayer(url), { local: true })
      )
      const results = yield* Effect.forEach([1, 2, 3, 4], () => migrator, { concurrency: "unbounded" })
      expect(results.map(({ ran }) => ran).sort()).toEqual([0, 0, 0, 4])
      expect(results.map(({ notes }) => notes)).toEqual(Array.from({ length: 4 }, () => [{ id: 1 }]))
    }))
})
