import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { files, read } from "../../repository/repository.ts"
import * as Populated from "../../support/populated.ts"
import { forEachDatabase, postgres } from "../../support/postgres/database.ts"
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
  where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`
)

/** All that the service may do outside organizations. */
const servicePrivileges = [
  "account: SELECT(id), SELECT(later_statuses), SELECT(licence_stopped_at), SELECT(locked_at), SELECT(offboarded_at), " +
  "SELECT(organization_id), SELECT(status), SELECT(status_changes), SELECT(status_until), SELECT(stopped_at), " +
  "UPDATE(later_statuses), UPDATE(status), UPDATE(status_changes), UPDATE(status_until)",
  "account_attempt: DELETE, SELECT",
  "account_key: SELECT, UPDATE(sealed)",
  "account_secret: SELECT",
  "account_task: SELECT",
  "admin: SELECT",
  "ai_connection: SELECT, UPDATE(last_used_at)",
  "api_key: SELECT, UPDATE(last_used_at)",
  "archive_attempt: DELETE, SELECT",
  "archive_blob: SELECT(account_id), SELECT(at), SELECT(blob_id), SELECT(locked_until), SELECT(organization_id), SELECT(sha256), SELECT(state), SELECT(version)",
  "archive_cleanup: SELECT(created_at), SELECT(created_by), SELECT(expires_at), SELECT(id), SELECT(not_before), SELECT(organization_id), SELECT(state)",
  "archive_deletion: SELECT(finished_at), SELECT(id), SELECT(organization_id), SELECT(started_at)",
  "archive_export: DELETE, SELECT(expires_at)",
  "archive_key: SELECT(organization_id), SELECT(pepper_id)",
  "archive_read: SELECT",
  "archive_retention: SELECT(applied_on), SELECT(organization_id), SELECT(reached)",
  "archive_round: SELECT",
  "archive_run: INSERT, SELECT, UPDATE",
  "archive_state: SELECT(account_id), SELECT(archive_bytes), SELECT(begun), SELECT(organization_id)",
  "archive_unjudged: SELECT",
  "cluster_locks: DELETE, INSERT, SELECT, UPDATE",
  "cluster_runners: DELETE, INSERT, SELECT, UPDATE",
  "cluster_runners_machine_id_seq: USAGE",
  "console_session: DELETE, SELECT, UPDATE(last_used_at)",
  "email_change: SELECT",
  "idempotency_key: DELETE, SELECT",
  "identity_provider: SELECT(organization_id), SELECT(pepper_id), SELECT(required)",
  "identity_sign_in: DELETE, SELECT",
  "journal_checkpoint: INSERT, SELECT",
  "journal_head: SELECT",
  "journal_push: INSERT, SELECT, UPDATE",
  "known_browser: DELETE, SELECT, UPDATE(digest)",
  "login: DELETE, SELECT",
  "mail: DELETE, SELECT, UPDATE(attempts), UPDATE(claimed_by), UPDATE(claimed_until), UPDATE(error), UPDATE(failed_at), " +
  "UPDATE(letter_sealed), UPDATE(next_at), UPDATE(sent_at)",
  "messenger_key: INSERT, SELECT, UPDATE(sealed), UPDATE(version)",
  "messenger_session: DELETE, INSERT, SELECT, UPDATE(doubted_at), UPDATE(sealed)",
  "monitor: SELECT, UPDATE",
  "oauth_client: DELETE, INSERT, SELECT, UPDATE(address)",
  "oauth_code: DELETE, SELECT",
  "oauth_token: DELETE, SELECT",
  "organization: SELECT",
  "passkey: SELECT(admin_id), SELECT(credential_id), SELECT(organization_id)",
  "password_failure: DELETE, INSERT, SELECT, UPDATE",
  "password_reset: DELETE, SELECT",
  "password_reset_request: DELETE, INSERT, SELECT",
  "password_throttle: DELETE, INSERT, SELECT, UPDATE",
  "pending_change: SELECT",
  "pending_sign_in: DELETE, SELECT",
  "rate_limit: DELETE, INSERT, SELECT, UPDATE",
  "recovery_code: SELECT(pepper_id), SELECT(used_at)",
  "schema_migration: SELECT",
  "service_session: SELECT",
  "sign_up_link: SELECT(created_at), SELECT(organization_id), SELECT(used_at)",
  "simulated_account: INSERT, SELECT, UPDATE",
  "simulated_authorization: DELETE, INSERT, SELECT, UPDATE",
  "simulated_call: DELETE, INSERT, SELECT",
  "simulated_document: INSERT, SELECT, UPDATE",
  "simulated_ended_session: INSERT, SELECT, UPDATE",
  "simulated_login: DELETE, INSERT, SELECT, UPDATE",
  "simulated_number: USAGE",
  "simulated_platform: SELECT, UPDATE",
  "simulated_script: DELETE, INSERT, SELECT, UPDATE",
  "simulated_username_for_sale: INSERT, SELECT",
  "status_sample: DELETE, INSERT, SELECT",
  "totp: SELECT(organization_id), SELECT(pepper_id)"
]

describe("the schema's walls", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("protect every table of the organizations", () =>
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

      it.effect("let both roles use a partitioned table as a whole alone, and hide every row of its partitions", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const partitions = yield* sql<{ name: string; secured: boolean; used: boolean }>`
            select relname::text as name, relrowsecurity and relforcerowsecurity as secured,
              exists (select from unnest(array['console_app', 'console_service']) role
                where has_table_privilege(role, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
                  or has_any_column_privilege(role, oid, 'SELECT, INSERT, UPDATE')) as used
            from pg_class where relispartition and relkind = 'r'`
          expect(partitions).toHaveLength(16)
          expect(partitions.filter(({ secured, used }) => !secured || used)).toEqual([])
        }))

      it.effect("give nothing to any other role, and no function but those of triggers to every role", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          expect(
            yield* sql`
            select relname, grantee::regrole::text as role from pg_class, aclexplode(relacl)
            where relnamespace = to_regnamespace('public')
              and grantee not in (relowner, to_regrole('console_app'), to_regrole('console_service'))`
          ).toEqual([])
          expect(
            yield* sql`
            select proname from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
            where pronamespace = to_regnamespace('public') and prorettype <> 'trigger'::regtype and grantee = 0
              and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`
          ).toEqual([])
        }))

      it.effect("give console_service what is written down, and nothing to own", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const found = yield* sql<{ line: string }>`
            select name || ': ' || string_agg(privilege, ', ' order by privilege) as line from (
              select relname as name, privilege_type as privilege from pg_class, aclexplode(relacl)
              where relnamespace = to_regnamespace('public') and grantee = to_regrole('console_service')
              union all select relname, privilege_type || '(' || attname || ')'
              from pg_attribute join pg_class on pg_class.oid = attrelid, aclexplode(attacl)
              where grantee = to_regrole('console_service')) as given
            group by name order by name collate "C"`
          expect(found.map(({ line }) => line)).toEqual(servicePrivileges)
          const policies = yield* sql`
            select tablename, roles::text from pg_policies
            where policyname = 'directory' and roles <> '{console_service}'`
          expect(policies).toEqual([])
          const owned = yield* sql`
            select 1 from pg_shdepend where refobjid = to_regrole('console_service') and deptype = 'o'`
          expect(owned).toEqual([])
          expect(
            yield* sql`
            select current_user::text as role, pg_has_role(current_user, relowner, 'member') as owner
            from pg_class where relname = 'journal_event'`
          ).toEqual([{ role: "console_service", owner: false }])
        }))

      it.effect("keep the service from changing what was journaled and signed, and from taking them down", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          for (const table of ["journal_event", "journal_checkpoint"]) {
            const column = table === "journal_event" ? "outcome" : "signature"
            for (
              const statement of [
                `update ${table} set ${column} = ''`,
                `delete from ${table}`,
                `truncate ${table}`,
                `drop trigger append_only on ${table}`,
                `alter table ${table} disable trigger append_only`,
                `alter table ${table} disable row level security`,
                `alter table ${table} no force row level security`,
                `drop policy tenant on ${table}`,
                `create policy mine on ${table} using (true)`
              ]
            ) {
              const refused = yield* Effect.flip(sql.unsafe(statement))
              expect(`${statement}: ${refused.reason._tag}`).toBe(`${statement}: AuthorizationError`)
            }
          }
          expect((yield* Effect.flip(sql`create table mine (id int8)`)).reason._tag).toBe("AuthorizationError")
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
          const compared = tenants.map(({ name }) => name).filter((name) => !World.counters.includes(name))
          expect(Object.keys(before).toSorted()).toEqual(compared.toSorted())
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

/** The files of SQL, one after the other. */
const written = files("src/layers/postgres/schema/*.sql").map(read).join("\n")

/** A table as it is written, from its name to the end of its columns. */
const textOf = (table: string) =>
  new RegExp(`^create (?:unlogged )?table ${table} \\([^]*?^\\)`, "m").exec(written)?.[0] ?? ""

describe("the files of the schema", () => {
  layer(postgres)((it) => {
    it.effect("say of every column what it holds", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const columns = yield* sql<{ table: string; column: string }>`
          select relname as table, attname as column from pg_attribute join pg_class on pg_class.oid = attrelid
          where relnamespace = to_regnamespace('public') and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped`
        expect(columns.length).toBeGreaterThan(600)
        const isDescribed = ({ column, table }: typeof columns[number]) =>
          new RegExp(`^  ${column} .* -- \\S|^  -- .*\\n  ${column} `, "m").test(textOf(table))
        expect(columns.filter((column) => !isDescribed(column))).toEqual([])
      }))
  })

  it("say of every index which statement it serves", () => {
    const lines = written.split("\n")
    const bare = lines.filter((line, at) => {
      if (!/^create (?:unique )?index /.test(line)) return false
      // Several indexes of one purpose stand below one comment.
      const before = lines.slice(0, at).findLast((each) => !/^create (?:unique )?index |^ /.test(each)) ?? ""
      return !before.startsWith("-- ")
    })
    expect(bare).toEqual([])
  })
})
