import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table console_session (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      digest text collate "C" not null unique,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3) not null,
      primary key (organization_id, id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`create index console_session_idle on console_session (last_used_at)`
  yield* sql`alter table console_session enable row level security`
  yield* sql`alter table console_session force row level security`
  yield* sql`
    create policy tenant on console_session to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, update, delete on console_session to console_app`
  yield* sql`create policy directory on console_session to current_user using (true)`

  yield* sql`
    create table password_throttle (
      key text collate "C" primary key,
      failures integer not null,
      last_at bigint not null,
      blocked_until bigint not null,
      admitted boolean not null
    )`
})
