/** Who may act in an organization, what they are granted, and the rules of its archive, kept and put back. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as World from "../world.ts"

/** The tables in the order in which rows can be put back, by their key and what else of a row is put back. */
const tables = [
  ["department", ["id"], ["name", "name_key"]],
  ["admin", ["id"], [
    "email",
    "name",
    "role",
    "archive_access",
    "joined_at",
    "disabled_at",
    "removed_at",
    "password_hash",
    "password_changed_at",
    "invitation_digest",
    "invitation_pepper_id",
    "invitation_expires_at",
    "invited_by"
  ]],
  ["admin_account", ["admin_id", "account_id"], []],
  ["admin_department", ["admin_id", "department_id"], []],
  ["invitation_sent", ["id"], []],
  ["archive_rule", ["rule_id"], []]
] as const

const columns = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>, of = "") =>
  sql.literal(names.map((name) => `${of}${name}`).join(", "))

/** Departments, admins, their grants and where accounts are filed as they are now; answers what puts them back. */
export const kept = Effect.fnUntraced(function*(id: string) {
  const before = yield* World.query<{ name: string; rows: string }>(id, (sql) =>
    sql`${
      sql.join(" union all ", false)(
        ["account", ...tables.map(([name]) => name)].map((name) =>
          sql`select ${name}::text as name, coalesce(jsonb_agg(row), '[]')::text as rows from ${sql(name)} row
            where organization_id = ${id}`
        )
      )
    }`)
  const rowsOf = (table: string) => before.find(({ name }) => name === table)?.rows ?? "[]"
  const restored = World.query(id, (sql) => {
    const old = (table: string) => sql`jsonb_populate_recordset(null::${sql(table)}, ${rowsOf(table)}::jsonb) as old`
    const ofTables = tables.flatMap(([table, key, rest]) => [
      // A removed one gives up its address before another is put back.
      ...(table === "admin"
        ? [
          sql`delete from admin_account where organization_id = ${id}`,
          sql`delete from admin_department where organization_id = ${id}`,
          sql`delete from admin where organization_id = ${id} and id not in (select id from ${old("admin")})`,
          sql`update admin set role = 'admin' where organization_id = ${id} and role = 'owner'`
        ]
        : []),
      sql`insert into ${sql(table)} select * from ${old(table)} on conflict do nothing`,
      ...(table === "department"
        ? [sql`update account set department_id = old.department_id from ${old("account")}
            where account.organization_id = ${id} and account.id = old.id
              and account.department_id is distinct from old.department_id`]
        : []),
      ...(rest.length > 0
        ? [
          sql`update ${sql(table)} row set (${columns(sql, rest)}) = (select ${columns(sql, rest, "old.")} from ${
            old(table)
          } where old.id = row.id) where organization_id = ${id}
            and exists (select 1 from ${old(table)} where old.id = row.id)`
        ]
        : []),
      ...(table === "admin" || table === "department"
        ? []
        : [sql`delete from ${sql(table)} row where organization_id = ${id}
            and (${columns(sql, key, "row.")}) not in (select ${columns(sql, key)} from ${old(table)})`])
    ])
    const last = sql`delete from department where organization_id = ${id} and id not in (
      select id from ${old("department")})`
    return Effect.forEach([...ofTables, last], (statement) => statement, World.inOneWrite)
  }).pipe(Effect.asVoid)
  return { restored }
})
