import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Tenant from "../../../src/layers/sql/Tenant.ts"
import { forEachDatabase } from "../../support/database.ts"
import * as Populated from "../../support/populated.ts"
import * as World from "../../support/world.ts"

interface Table {
  readonly name: string
  readonly tenant: boolean
  readonly secured: boolean
  readonly policies: ReadonlyArray<string>
  readonly privileges: ReadonlyArray<string>
}

const tables = SqlClient.SqlClient.use((sql) =>
  sql<Table>`
  select c.relname::text as name,
    c.relname = 'organization' or exists (select 1 from pg_attribute a
      where a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped) as tenant,
    c.relrowsecurity and c.relforcerowsecurity as secured,
    array(select pg_get_expr(p.polqual, c.oid) from pg_policy p
      where p.polrelid = c.oid and (to_regrole('console_app') = any(p.polroles) or 0 = any(p.polroles))) as policies,
    array(select privilege from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
      privilege where has_table_privilege('console_app', c.oid, privilege)) as privileges
  from pg_class c
  where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p')
  order by c.relname`
)

describe("the schema's walls", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("stand around every table of the organizations", () =>
        Effect.gen(function*() {
          const tenants = (yield* tables).filter((table) => table.tenant)
          expect(tenants.length).toBeGreaterThan(10)
          for (const { name, policies, secured } of tenants) {
            expect({ name, secured, policies }).toEqual({
              name,
              secured: true,
              policies: [
                expect.stringMatching(
                  /^\((id|organization_id) = current_setting\('console.organization_id'::text, true\)\)$/
                )
              ]
            })
          }
        }))

      it.effect("keep console_app from every other table, and from truncating, referencing or owning any", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const found = yield* tables
          expect(found.filter((table) => !table.tenant && table.privileges.length > 0)).toEqual([])
          const allowed = ["SELECT", "INSERT", "UPDATE", "DELETE"]
          expect(found.filter((table) => table.privileges.some((privilege) => !allowed.includes(privilege)))).toEqual(
            []
          )
          expect(yield* sql`select relname from pg_class where relowner = to_regrole('console_app')`).toEqual([])
        }))

      it.effect("let the journal be read and added to, never changed", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const journal = (yield* tables).find((table) => table.name === "journal_event")
          expect(journal?.privileges).toEqual(["SELECT", "INSERT"])
          for (const statement of [sql`update journal_event set hash = ''`, sql`delete from journal_event`]) {
            const defect = yield* Tenant.transaction(sql, "acme")(statement).pipe(
              Effect.as(undefined),
              Effect.catchDefect((defect) => Effect.succeed(defect))
            )
            expect(defect).toMatchObject({ reason: { _tag: "AuthorizationError" } })
          }
        }))

      it.effect("show and change one organization's rows alone in every table, though no statement names any", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const [own, other] = [yield* Populated.make(), yield* Populated.make()]
          const before = yield* World.snapshot(other.id)
          const tenants = (yield* tables).filter((table) => table.tenant)
          expect(Object.keys(before).toSorted()).toEqual(tenants.map(({ name }) => name).toSorted())
          for (const { name, privileges } of tenants) {
            const column = sql(name === "organization" ? "id" : "organization_id")
            const inside = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
              Tenant.transaction(sql, own.id)(Effect.orDie(statement))
            const seen = yield* inside(sql<{ id: string }>`select distinct ${column} as id from ${sql(name)}`)
            expect([name, seen.filter(({ id }) => id !== own.id)]).toEqual([name, []])
            if (privileges.includes("UPDATE")) {
              const changed = yield* inside(
                sql<{ id: string }>`update ${sql(name)} set ${column} = ${column} returning ${column} as id`
              )
              expect([name, changed.filter(({ id }) => id !== own.id)]).toEqual([name, []])
            }
          }
          const accounts = yield* Tenant.transaction(sql, own.id)(sql`delete from admin_account returning account_id`)
          expect(accounts.length).toBeGreaterThan(0)
          expect(yield* World.snapshot(other.id)).toEqual(before)
        }))
    })
  })
})
