import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is chosen for a connection, and the table that it stands in. */
const chosen = [["account", "account_ids"], ["department", "department_ids"]] as const

/** Keeps what a connection reaches beside it: a rule, or one row for each account or department chosen. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    alter table ai_connection
      add column all_accounts boolean not null default false,
      add check (not all_accounts or scope_type = 'accounts')`

  for (const [kind, ids] of chosen) {
    const table = sql(`ai_connection_${kind}`)
    const id = sql(`${kind}_id`)
    yield* sql`
      create table ${table} (
        organization_id text collate "C" not null,
        connection_id uuid not null,
        ${id} uuid not null,
        place integer not null,
        primary key (organization_id, connection_id, ${id}),
        foreign key (organization_id, connection_id) references ai_connection (organization_id, id) on delete cascade,
        foreign key (organization_id, ${id}) references ${sql(kind)} (organization_id, id) on delete cascade
      )`
    yield* sql`create index ${sql(`ai_connection_${kind}_chosen`)} on ${table} (organization_id, ${id})`
    // The owner is let through the wall while the lists are read.
    yield* sql`alter table ${sql(kind)} no force row level security`
    yield* sql`
      insert into ${table} (organization_id, connection_id, ${id}, place)
      select ai_connection.organization_id, ai_connection.id, listed.id, min(listed.place)
      from ai_connection
      cross join lateral unnest(${sql(ids)}) with ordinality as listed (id, place)
      join ${sql(kind)} on ${sql(kind)}.organization_id = ai_connection.organization_id
        and ${sql(kind)}.id = listed.id
      group by ai_connection.organization_id, ai_connection.id, listed.id`
    yield* sql`alter table ${sql(kind)} force row level security`
    yield* sql`alter table ai_connection drop column ${sql(ids)}`
    yield* sql`alter table ${table} enable row level security`
    yield* sql`alter table ${table} force row level security`
    yield* sql`
      create policy tenant on ${table} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant select, insert on ${table} to console_app`
  }
})
