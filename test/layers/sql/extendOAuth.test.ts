import { describe, expect, layer } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as Migrate from "../../../src/layers/sql/Migrate.ts"
import { migrations } from "../../../src/layers/sql/migrations/index.ts"

const uuid = (kind: number, n: number) => `00000000-0000-${kind}000-8000-00000000000${n}`
const [first, second, gone] = [uuid(1, 1), uuid(1, 2), uuid(1, 9)]
const [one, two] = [uuid(2, 1), uuid(2, 2)]
const [byAccounts, byDepartments] = [uuid(3, 1), uuid(3, 2)]
const former = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0006"))

describe("the migration of connections", () => {
  layer(Pglite.layerFrom(() => PGlite.create({ extensions: Pglite.extensions }), "console_owner"))((it) => {
    it.effect("what was chosen for connections comes over in its order, without what is gone, and none reaches all", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Migrate.run(former)
        for (const table of ["organization", "admin", "department", "account", "ai_connection", "oauth_token"]) {
          yield* sql`alter table ${sql(table)} no force row level security`
        }
        yield* sql`insert into organization (id, name, status, created_at, managed, billing_state, seat_limit)
          values ('acme', 'Acme', 'active', now(), true, 'none', 9)`
        yield* sql`insert into admin (organization_id, id, email, role, created_at)
          values ('acme', ${one}, 'ada@example.com', 'owner', now())`
        for (const id of [one, two]) {
          yield* sql`insert into department (organization_id, id, name, created_at) values ('acme', ${id}, ${id}, now())`
        }
        for (const id of [first, second]) {
          yield* sql`insert into account (organization_id, id, messenger_user_id, phone_number, name_key)
            values ('acme', ${id}, ${id}, '+1', '')`
        }
        const connections = [
          [byAccounts, "accounts", `{${second},${gone},${first},${second}}`, "{}"],
          [byDepartments, "departments", "{}", `{${two},${one}}`]
        ] as const
        for (const [id, type, accounts, departments] of connections) {
          yield* sql`insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode,
              scopes, scope_type, account_ids, department_ids, created_at)
            values ('acme', ${id}, ${one}, 'oauth', 'App', 'App', 'app.example', 'cloud', '{}', ${type},
              ${accounts}::text::uuid[], ${departments}::text::uuid[], now())`
        }
        yield* sql`insert into oauth_token (organization_id, digest, pepper_id, connection_id, kind, scopes, created_at,
            expires_at, used_at)
          values ('acme', 'digest', 'pepper', ${byAccounts}, 'refresh', '{}', now(), now(), now())`
        for (const table of ["organization", "admin", "department", "account", "ai_connection", "oauth_token"]) {
          yield* sql`alter table ${sql(table)} force row level security`
        }
        yield* Migrate.run(migrations)
        const within = <A extends object>(query: Effect.Effect<ReadonlyArray<A>, unknown>) =>
          sql`select set_config('role', 'console_app', true), set_config('console.organization_id', 'acme', true)`.pipe(
            Effect.andThen(query),
            sql.withTransaction,
            Effect.orDie
          )
        expect(
          yield* within(sql`select connection_id, account_id from ai_connection_account order by place`)
        ).toEqual([{ connection_id: byAccounts, account_id: second }, { connection_id: byAccounts, account_id: first }])
        expect(
          yield* within(sql`select connection_id, department_id from ai_connection_department order by place`)
        ).toEqual([
          { connection_id: byDepartments, department_id: two },
          { connection_id: byDepartments, department_id: one }
        ])
        expect(yield* within(sql`select distinct all_accounts, generation from ai_connection`)).toEqual([
          { all_accounts: false, generation: 0 }
        ])
        expect(yield* within(sql`select digest, generation, used_at is not null as used from oauth_token`)).toEqual([
          { digest: "digest", generation: null, used: true }
        ])
        expect(yield* within(sql`select approve_applications as required from organization`)).toEqual([
          { required: false }
        ])
      }))
  })
})
