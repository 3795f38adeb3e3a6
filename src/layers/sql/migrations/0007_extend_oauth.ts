import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is chosen for a connection, and the table that it stands in. */
const chosen = [["account", "account_ids"], ["department", "department_ids"]] as const

/**
 * Keeps what a connection reaches beside it: a rule, or one row for each account or department chosen; and counts its
 * refresh tokens, so that a used one need not be kept. An application may be known by the address of its document.
 * Organizations may say which applications their admins connect.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    alter table ai_connection
      add column all_accounts boolean not null default false,
      add column generation integer not null default 0,
      add column client_document text,
      add check (not all_accounts or scope_type = 'accounts'),
      add check (client_document is null or client_id is null)`

  yield* sql`alter table organization add column approve_applications boolean not null default false`
  yield* sql`
    create table approved_application (
      organization_id text collate "C" not null references organization (id),
      application text collate "C" not null,
      approved_at timestamptz(3) not null,
      primary key (organization_id, application)
    )`
  yield* sql`alter table approved_application enable row level security`
  yield* sql`alter table approved_application force row level security`
  yield* sql`
    create policy tenant on approved_application to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, delete on approved_application to console_app`

  yield* sql`create index ai_connection_id on ai_connection (id) where kind = 'oauth'`
  yield* sql`alter table oauth_token add column generation integer, add check (kind = 'refresh' or generation is null)`

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
