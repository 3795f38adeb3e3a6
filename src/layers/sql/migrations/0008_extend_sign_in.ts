import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tenantTables = ["known_browser", "password_failure"] as const

/** Which key a key was made by, what is known of sessions and browsers, and the wrong passwords not yet journaled. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // The root is the first key of the family: locked by whoever makes or revokes one of it.
  yield* sql`
    alter table api_key
      add column parent_id uuid,
      add column root_id uuid,
      add check ((parent_id is null) = (root_id is null)),
      add foreign key (organization_id, parent_id) references api_key (organization_id, id),
      add foreign key (organization_id, root_id) references api_key (organization_id, id)`
  yield* sql`create index api_key_parent on api_key (organization_id, parent_id) where parent_id is not null`
  yield* sql`create index api_key_admin on api_key (organization_id, admin_id)`
  yield* sql`create index ai_connection_admin on ai_connection (organization_id, admin_id)`

  yield* sql`alter table console_session add column address text, add column browser text`
  yield* sql`create index console_session_admin on console_session (organization_id, admin_id)`

  yield* sql`
    create table known_browser (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      digest text collate "C" not null,
      address text collate "C",
      seen_sequence bigint not null default 0,
      last_used_at timestamptz(3) not null,
      primary key (organization_id, admin_id, digest),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`create index known_browser_digest on known_browser (digest)`
  yield* sql`create index known_browser_used on known_browser (last_used_at)`

  yield* sql`
    create table password_failure (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      failures integer not null,
      since timestamptz(3) not null,
      addresses text[] not null,
      ip text,
      request_id text,
      via text not null,
      journaled_at timestamptz(3),
      burst boolean not null default false,
      primary key (organization_id, admin_id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`

  for (const table of tenantTables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant select, insert, update, delete on ${sql(table)} to console_app`
    yield* sql`create policy directory on ${sql(table)} to current_user using (true)`
  }

  // The keys of the counters have changed their meaning.
  yield* sql`delete from password_throttle`
})
