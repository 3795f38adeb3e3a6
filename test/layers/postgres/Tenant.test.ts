import { describe, expect, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ServiceUnavailable } from "../../../src/domain/Failure.ts"
import * as Outage from "../../../src/layers/postgres/DatabaseOutage.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { asOwner, forEachDatabase } from "../../support/postgres/database.ts"

/** A table of the organizations', a journal that only grows, and a directory that the service reads. */
const tables = Layer.effectDiscard(
  asOwner((sql) =>
    Effect.gen(function*() {
      for (const table of ["note", "log", "door"]) {
        yield* sql`create table ${sql(table)} (organization_id text not null, id int8 primary key)`
        yield* sql`alter table ${sql(table)} enable row level security`
        yield* sql`alter table ${sql(table)} force row level security`
        yield* sql`create policy tenant on ${sql(table)} to console_app
          using (organization_id = current_setting('console.organization_id', true))`
      }
      yield* sql`grant select, insert, update, delete on note to console_app`
      yield* sql`grant select, insert on log to console_app`
      yield* sql`grant select on door to console_app`
      yield* sql`grant select, insert on note to console_service`
      yield* sql`grant select, insert on door to console_service`
      yield* sql`create policy directory on door to console_service using (true)`
    })
  )
)

const other = (effect: Effect.Effect<unknown, unknown, SqlClient.SqlClient>) =>
  Effect.map(Effect.exit(effect), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "success")

describe("Tenant", () => {
  forEachDatabase((_, database) => {
    layer(Layer.provideMerge(tables, database))((it) => {
      const insert = (organization: string, id: number) =>
        SqlClient.SqlClient.use((sql) => sql`insert into note (organization_id, id) values (${organization}, ${id})`)
      const notes = SqlClient.SqlClient.use((sql) => sql<{ id: number }>`select id from note order by id`)

      it.effect("shows and changes one organization's rows alone, though the statements name none", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* Tenant.transaction(sql, "acme")(Effect.andThen(insert("acme", 1), insert("acme", 2)))
          yield* Tenant.transaction(sql, "bolt")(insert("bolt", 3))
          expect(yield* Tenant.transaction(sql, "acme")(notes)).toEqual([{ id: 1 }, { id: 2 }])
          expect(yield* Tenant.transaction(sql, "bolt")(notes)).toEqual([{ id: 3 }])
          expect(yield* Tenant.transaction(sql, "")(notes)).toEqual([])
          expect(yield* Tenant.transaction(sql, "none")(notes)).toEqual([])
          yield* Tenant.transaction(sql, "bolt")(sql`update note set id = id + 100`)
          yield* Tenant.transaction(sql, "bolt")(sql`delete from note where id < 100`)
          expect(yield* Tenant.transaction(sql, "acme")(notes)).toEqual([{ id: 1 }, { id: 2 }])
          expect(yield* Tenant.transaction(sql, "bolt")(notes)).toEqual([{ id: 103 }])
        }))

      it.effect("answers several statements by their names, beside others, or fails with the first that fails", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* Tenant.transaction(sql, "four")(Effect.andThen(insert("four", 41), insert("four", 42)))
          const all = Tenant.all(sql)
          for (const access of ["read", "write"] as const) {
            const inFour = Tenant.transaction(sql, "four", { access })
            const first = sql<{ id: number }>`select min(id) as id from note`
            const none = sql<{ id: number }>`select id from note where id = 0`
            const every = sql<{ id: number }>`select id from note order by id`
            const [named, alone] = yield* inFour(Effect.all([all({ first, none, every }), every], Tenant.together))
            expect(named).toEqual({ first: [{ id: 41 }], none: [], every: [{ id: 41 }, { id: 42 }] })
            expect(alone).toEqual([{ id: 41 }, { id: 42 }])
            const broken = sql`select 1 / (${0}::int) as never`
            expect(yield* other(inFour(all({ first, broken, every })))).toContain("division by zero")
            expect(yield* inFour(all({ first }))).toEqual({ first: [{ id: 41 }] })
          }
        }))

      it.effect("refuses a row of another organization", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          expect(yield* other(Tenant.transaction(sql, "acme")(insert("bolt", 50)))).toContain("row-level security")
          expect(
            yield* other(
              Effect.andThen(
                Tenant.transaction(sql, "acme")(insert("acme", 51)),
                Tenant.transaction(sql, "acme")(sql`update note set organization_id = 'bolt'`)
              )
            )
          ).toContain("row-level security")
          yield* Tenant.transaction(sql, "acme")(sql`delete from note where id = 51`)
        }))

      it.effect("shows nothing outside an organization, except where the service has a policy", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* Tenant.transaction(sql, "acme")(insert("acme", 60))
          expect(yield* Tenant.directory(sql)(notes)).toEqual([])
          expect(yield* notes).toEqual([])
          expect(yield* other(insert("acme", 61))).toContain("row-level security")
          yield* Tenant.directory(sql)(sql`insert into door (organization_id, id) values ('acme', 1), ('bolt', 2)`)
          expect(yield* Tenant.directory(sql)(sql`select id from door order by id`)).toEqual([{ id: 1 }, { id: 2 }])
          expect(yield* Tenant.transaction(sql, "bolt")(sql`select id from door`)).toEqual([{ id: 2 }])
        }))

      it.effect("lets the journal grow and nothing else", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          yield* acme(sql`insert into log (organization_id, id) values ('acme', 1)`)
          for (const statement of [sql`update log set id = 2`, sql`delete from log`, sql`truncate log`]) {
            expect(yield* other(acme(statement))).toContain("permission denied")
          }
          expect(yield* acme(sql`select id from log`)).toEqual([{ id: 1 }])
        }))

      it.effect("leaves no role and no organization behind on the connection", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const state = sql<{ role: string; organization: string }>`select current_user::text as role,
            coalesce(current_setting('console.organization_id', true), '') as organization`
          const [before] = yield* state
          expect(yield* Tenant.transaction(sql, "acme")(state)).toEqual([{ role: "console_app", organization: "acme" }])
          yield* Effect.ignore(Tenant.transaction(sql, "acme")(Effect.fail("no")))
          yield* Effect.exit(Tenant.transaction(sql, "acme")(sql`select nothing`))
          for (let turn = 0; turn < 10; turn++) expect(yield* state).toEqual([{ ...before, organization: "" }])
        }))

      it.effect("has a statement planned by indexes alone, and leaves nothing of that behind on the connection", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const text = `select array[current_setting('plan_cache_mode'), current_setting('enable_seqscan'),
            current_setting('enable_sort')]::text as ways`
          const how = (ask: typeof Tenant.ask) => Effect.map(ask<{ ways: string }>(sql, text, []), ([row]) => row?.ways)
          for (let turn = 0; turn < 10; turn++) {
            expect(yield* how(Tenant.askByIndex)).toBe("{force_generic_plan,off,on}")
            expect(yield* how(Tenant.askInOrder)).toBe("{force_generic_plan,off,off}")
            expect(yield* how(Tenant.ask)).toBe("{auto,on,on}")
          }
        }))

      it.effect("joins the transaction of the same organization: both are written or neither", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          const both = (fails: boolean) =>
            acme(Effect.gen(function*() {
              yield* acme(insert("acme", 70))
              yield* insert("acme", 71)
              if (fails) return yield* Effect.fail("no")
            }))
          const found = acme(sql`select id from note where id between 70 and 79 order by id`)
          expect(yield* Effect.flip(both(true))).toBe("no")
          expect(yield* found).toEqual([])
          yield* both(false)
          expect(yield* found).toEqual([{ id: 70 }, { id: 71 }])
        }))

      it.effect("dies inside the transaction of another organization, a plain one, and as a directory inside one", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          const message = "inside another transaction"
          expect(yield* other(acme(Tenant.transaction(sql, "bolt")(notes)))).toContain(message)
          expect(yield* other(sql.withTransaction(acme(notes)))).toContain(message)
          expect(yield* other(acme(Tenant.directory(sql)(notes)))).toContain("inside a transaction")
        }))

      it.effect("passes failures on, and makes defects of SQL's", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const failure = yield* Effect.flip(Tenant.transaction(sql, "acme")(Effect.fail("mine")))
          expect(failure).toBe("mine")
          for (const broken of [sql`select nothing`, Effect.orDie(sql`select nothing`)]) {
            for (
              const exit of [
                yield* Effect.exit(Tenant.transaction(sql, "acme")(broken)),
                yield* Effect.exit(Tenant.directory(sql)(broken))
              ]
            ) expect(Exit.isFailure(exit) && exit.cause.reasons.map((reason) => reason._tag)).toEqual(["Die"])
          }
        }))

      it.effect("fails every statement behind one that was posted and failed as that one did, and writes nothing", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const said: Array<string> = []
          const exit = yield* Effect.exit(
            Tenant.transaction(sql, "acme")(Effect.gen(function*() {
              yield* sql`insert into note (organization_id, id) values ('acme', 900)`
              yield* Tenant.post(sql)(sql`insert into note (organization_id, id) values ('acme', 1 / (900 - 900))`)
              said.push(yield* other(sql`select 1`), yield* other(sql`select 2`))
            }))
          )
          expect(said.map((text) => text.includes("division by zero"))).toEqual([true, true])
          expect(Exit.isFailure(exit)).toBe(true)
          expect(yield* Tenant.transaction(sql, "acme")(sql`select 1 from note where id = 900`)).toEqual([])
        }))

      it.effect("interrupts what exceeds the deadline, rolls it back and answers ServiceUnavailable", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme", { deadline: Tenant.defaultDeadline })
          const started = Promise.withResolvers<void>()
          const slow = acme(Effect.gen(function*() {
            yield* insert("acme", 80)
            started.resolve()
            return yield* Effect.never
          }))
          const fiber = yield* Effect.forkChild(Effect.flip(slow))
          yield* Effect.promise(() => started.promise)
          yield* TestClock.adjust("11 seconds")
          expect(yield* Fiber.join(fiber)).toBeInstanceOf(ServiceUnavailable)
          expect(yield* acme(sql`select id from note where id = 80`)).toEqual([])
          const directory = yield* Effect.forkChild(Effect.flip(Tenant.directory(sql)(Effect.never)))
          yield* TestClock.adjust("11 seconds")
          expect(yield* Fiber.join(directory)).toBeInstanceOf(ServiceUnavailable)
        }))

      it.effect("rolls back when its caller is interrupted", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          const started = Promise.withResolvers<void>()
          const fiber = yield* Effect.forkChild(acme(Effect.gen(function*() {
            yield* insert("acme", 90)
            started.resolve()
            return yield* Effect.never
          })))
          yield* Effect.promise(() => started.promise)
          yield* Fiber.interrupt(fiber)
          expect(yield* acme(sql`select id from note where id = 90`)).toEqual([])
        }))

      it.effect("answers ServiceUnavailable where transactions were in each other's way, and records no outage", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const acme = Tenant.transaction(sql, "acme")
          for (const code of ["40P01", "40001"]) {
            const raised = sql`do ${sql.literal(`$$ begin raise sqlstate '${code}'; end $$`)}`
            const failing = Effect.asVoid(raised)
            for (const conflict of [failing, Effect.orDie(failing), Tenant.post(sql)(raised)]) {
              const failure = yield* Effect.flip(acme(Effect.andThen(insert("acme", 95), conflict)))
              expect(failure instanceof ServiceUnavailable && failure.retry_after).toBe(1)
            }
          }
          expect(Outage.isAway(sql)).toBe(false)
          expect(yield* acme(sql`select id from note where id = 95`)).toEqual([])
        }))
    })
  })
})
