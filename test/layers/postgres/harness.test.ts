import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../../src/layers/postgres/migrations.ts"
import { forEachDatabase } from "../../support/postgres/database.ts"
import { lendServed, openEmbedded, openEmpty } from "../../support/postgres/databasePool.ts"
import * as Pristine from "../../support/postgres/pristine.ts"
import { superuser, superuserUrl } from "../../support/postgres/superuser.ts"

/** Changes of a schema, each of which is more than rows. */
const changes = [
  "alter table account add column planted int",
  "alter table account alter column first_name set default ''",
  "alter table organization alter column status drop not null",
  "alter table account drop constraint account_pkey cascade",
  "alter table account disable row level security",
  "alter table account owner to console_service",
  "create index planted on account (first_name)",
  "create sequence planted",
  "create view planted as select 1 as one",
  "create function planted() returns int language sql as 'select 1'",
  "create policy planted on account to console_app using (true)",
  "create trigger planted before update on account execute function suppress_redundant_updates_trigger()",
  "grant delete on account to console_service",
  "grant update (first_name) on account to console_service",
  "alter default privileges grant select on tables to console_service",
  "create schema planted",
  "drop extension pg_trgm cascade",
  "alter role console_service createdb",
  "alter role console_service set lock_timeout = 1",
  "grant console_owner to console_service",
  "analyze schema_migration"
]

describe("the test databases", () => {
  forEachDatabase((name, database) => {
    layer(database)((it) => {
      it.effect("are migrated, and of the version that the suite promises", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ version: string; role: string }>`
            select current_setting('server_version') as version, current_user::text as role`
          expect(row?.version).toMatch(name === "PGlite" ? /^18\./ : /^15\./)
          expect(row?.role).toBe("console_service")
          expect(sql.driver).toBe(name === "PGlite" ? "pglite" : "pg")
          const state = yield* Migrate.state(migrations)
          expect(state.applied).toBe(state.known)
        }))
    })
  })

  it("are lent again, empty, whatever a session has left in them, but for a change of the schema", async () => {
    const counted = `select count(*)::int as count, current_user as role from simulated_account`
    const first = await openEmbedded()
    await first.exec("set role console_owner")
    await first.exec("begin; set local lock_timeout = 1; create temporary table kept ()")
    await first.close()
    const second = await openEmbedded()
    expect(second).toBe(first)
    expect((await second.query(counted)).rows).toEqual([{ count: 0, role: "postgres" }])
    await second.exec("alter table simulated_account add column planted int")
    await second.close()
    expect(second.closed).toBe(true)
  })

  it("on PGlite begin with the same files, whatever another one has written to its own", async () => {
    const first = await openEmpty()
    await first.exec("create schema planted; create table planted.one as select generate_series(1, 1000); checkpoint")
    const second = await openEmpty()
    const { rows } = await second.query("select count(*)::int as count from pg_namespace where nspname = 'planted'")
    expect(rows).toEqual([{ count: 0 }])
    expect((await first.query("select count(*)::int as count from planted.one")).rows).toEqual([{ count: 1000 }])
    await Promise.all([first.close(), second.close()])
  })

  it.live("on PostgreSQL are lent again, empty, whatever was done to their sessions and their schema", () =>
    Effect.gen(function*() {
      const leave = (statement: string) =>
        Effect.scoped(Effect.gen(function*() {
          const client = yield* superuser(superuserUrl(yield* lendServed))
          return yield* Effect.promise(async () => {
            const { rows: [found] } = await client.query<{ planted: number }>(
              "select count(*)::int as planted from information_schema.columns where column_name = 'planted'"
            )
            const { rows: [counted] } = await client.query<{ count: number }>(
              "select count(*)::int as count from simulated_account"
            )
            await client.query(statement)
            return [found?.planted, counted?.count]
          })
        }))
      const row = "insert into simulated_account (user_id, premium) values ('1', false)"
      const endings = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
      for (
        const statement of [
          row,
          `${row}; ${endings} and pid <> pg_backend_pid()`,
          `${row}; alter table account add column planted int`,
          row
        ]
      ) {
        expect([statement, ...yield* leave(statement)]).toEqual([statement, 0, 0])
      }
    }))

  it("are known to be changed by whatever is more than rows, and emptied of rows, few or many", async () => {
    const database = await openEmbedded()
    const restored = () => Pristine.restore(Pristine.embedded(database), inject("databases").pristine.pglite)
    for (const change of changes) {
      await database.exec(`begin; ${change}`)
      expect([change, await restored()]).toEqual([change, false])
      await database.exec("rollback")
    }
    const states = [
      "insert into schema_migration (migration_id, name) select n, 'planted' from generate_series(1000, 1001) n",
      "insert into schema_migration (migration_id, name) select n, 'planted' from generate_series(1000, 5000) n",
      "delete from schema_migration",
      "select 1"
    ]
    for (const state of states) {
      await database.exec(state)
      expect([state, await restored()]).toEqual([state, true])
      const { rows } = await database.query<{ count: number }>("select count(*)::int as count from schema_migration")
      expect([state, rows]).toEqual([state, [{ count: 1 + Object.keys(migrations).length }]])
    }
    await database.close()
  })
})
