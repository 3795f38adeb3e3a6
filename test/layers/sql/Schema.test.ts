import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Tenant from "../../../src/layers/sql/Tenant.ts"
import { forEachDatabase } from "../../support/database.ts"

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
    layer(database)((it) => {
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
    })
  })
})
