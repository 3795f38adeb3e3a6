import { describe, expect, it, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { asOwner, forEachDatabase, postgres } from "../../support/postgres/database.ts"

const tables = Layer.effectDiscard(
  asOwner((sql) =>
    Effect.gen(function*() {
      yield* sql`create table note (organization_id text not null, id int8 primary key, name text)`
      yield* sql`alter table note enable row level security`
      yield* sql`create policy tenant on note to console_app
        using (organization_id = current_setting('console.organization_id', true))`
      yield* sql`create policy directory on note to console_service using (true)`
      yield* sql`grant select, insert on note to console_app`
      yield* sql`grant select, insert on note to console_service`
    })
  )
)

/** Half of a surrogate pair, which no encoding of the database has. */
const unsendable = "\ud83e"

const messageOf = (effect: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.exit(effect), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "success")

describe("Transactions on sessions of their own", () => {
  forEachDatabase((_, database) => {
    layer(Layer.provideMerge(tables, database))((it) => {
      const insert = (sql: SqlClient.SqlClient, id: number, name = "x") =>
        sql`insert into note (organization_id, id, name) values ('acme', ${id}, ${name})`
      const written = (sql: SqlClient.SqlClient) =>
        Tenant.directory(sql)(sql<{ id: number }>`select id from note order by id`)
      const clear = asOwner((sql) => sql`truncate note`)

      it.effect("write nothing when a first statement that cannot be sent is passed over", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const passed = Tenant.transaction(sql, "acme")(
            Effect.andThen(Effect.ignore(insert(sql, 1, unsendable)), Effect.ignore(insert(sql, 2)))
          )
          expect(yield* messageOf(passed)).toContain("cannot be sent")
          expect(yield* written(sql)).toEqual([])
        }))

      it.effect("go on after a later one that cannot be sent, of which nothing has happened", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* Tenant.transaction(sql, "acme")(Effect.gen(function*() {
            yield* insert(sql, 1)
            expect(yield* messageOf(insert(sql, 2, unsendable))).toContain("cannot be sent")
            yield* insert(sql, 3)
          }))
          expect(yield* written(sql)).toEqual([{ id: 1 }, { id: 3 }])
          yield* clear
        }))

      it.effect("fail with what was posted: that cannot be sent, or that the server refuses", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          yield* acme(insert(sql, 1))
          for (
            const [bad, message] of [[insert(sql, 2, unsendable), "cannot be sent"], [
              insert(sql, 1),
              "note_pkey"
            ]] as const
          ) {
            const posted = Tenant.post(sql)(bad)
            expect(yield* messageOf(acme(Effect.andThen(insert(sql, 3), posted)))).toContain(message)
            expect(yield* messageOf(acme(posted))).toContain(message)
            expect(yield* messageOf(acme(Effect.andThen(posted, insert(sql, 4))))).toContain(message)
            expect(yield* messageOf(acme(Effect.andThen(posted, Effect.ignore(insert(sql, 4)))))).toContain(message)
          }
          yield* acme(Effect.andThen(Tenant.post(sql)(insert(sql, 5)), insert(sql, 6)))
          expect(yield* written(sql)).toEqual([{ id: 1 }, { id: 5 }, { id: 6 }])
          yield* clear
        }))

      it.effect("refuse what the protocol and the database have no room for, and keep the session", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          const pid = Tenant.transaction(sql, "acme")(sql<{ pid: number }>`select pg_backend_pid() as pid`)
          const many = sql`select 1 where 1 in ${sql.in(Array.from({ length: 70_000 }, (_, index) => index))}`
          const [before] = yield* pid
          expect(yield* messageOf(acme(many))).toContain("cannot be sent")
          expect(yield* messageOf(acme(insert(sql, 1, unsendable)))).toContain("cannot be sent")
          expect(yield* messageOf(acme(insert(sql, 1, "a\u0000b")))).toContain("invalid byte sequence")
          expect(yield* messageOf(acme(sql.unsafe("select '\u0000'")))).toContain("cannot be sent")
          expect(yield* messageOf(acme(sql`select ${["a", 1]}`))).toContain("cannot be sent")
          expect(yield* pid).toEqual([before])
          expect(yield* written(sql)).toEqual([])
        }))
    })
  })
})

describe("Reads of an organization", () => {
  forEachDatabase((_, database) => {
    layer(Layer.provideMerge(tables, database))((it) => {
      it.effect("are the organization's and nothing but reads, also after errors, and leave nothing behind", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const state = sql<{ tenant: string; role: string; readonly: string }>`select
            coalesce(current_setting('console.organization_id', true), '') as tenant, current_user::text as role,
            current_setting('transaction_read_only') as readonly`
          const read = Tenant.transaction(sql, "acme", { access: "read" })
          const insert = sql`insert into note (organization_id, id) values ('acme', 1)`
          yield* Effect.forEach(
            Array.from({ length: 40 }, (_, index) => index),
            (index) =>
              index % 4 === 0
                ? Effect.map(messageOf(read(sql`select 1 / ${index}::int4 / 0`)), (message) =>
                  expect(message).toContain("zero"))
                : index % 4 === 1
                ? Effect.map(read(messageOf(insert)), (message) =>
                  expect(message).toContain("read-only transaction"))
                : index % 4 === 2
                ? Effect.map(Tenant.directory(sql)(state), (rows) =>
                  expect(rows).toEqual([{ tenant: "", role: "console_service", readonly: "off" }]))
                : Effect.map(read(state), (rows) =>
                  expect(rows).toEqual([{ tenant: "acme", role: "console_app", readonly: "on" }])),
            { concurrency: "unbounded" }
          )
          expect(yield* messageOf(read(sql.withTransaction(insert)))).not.toBe("success")
          expect(yield* Tenant.directory(sql)(sql`select id from note`)).toEqual([])
        }))
    })
  })

  it.effect("are one transaction where they are asked for at once, the first ones of a client too", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const begun = sql`select pg_backend_pid() as session, now()::text as begun`
      const read = Tenant.transaction(sql, "acme", { access: "read" })
      for (let time = 0; time < 3; time++) {
        const [first, ...others] = yield* read(Effect.all([begun, begun, begun], { concurrency: "unbounded" }))
        expect(others).toEqual([first, first])
      }
      const [one, other] = yield* read(Effect.all([begun, begun]))
      expect(one).not.toEqual(other)
    }).pipe(Effect.provide(postgres)))
})
