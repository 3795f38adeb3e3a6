import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Links by which admins replace a password that they have forgotten, and the requests for them. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // Rows stay for a day: they count what has been mailed. A link that has ended has no digest.
  yield* sql`
    create table password_reset (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      digest text collate "C" unique,
      pepper_id text collate "C",
      known_browser boolean not null,
      mailed boolean not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      check ((digest is null) = (pepper_id is null)),
      primary key (organization_id, id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`create index password_reset_made on password_reset (organization_id, created_at)`
  yield* sql`create index password_reset_admin on password_reset (organization_id, admin_id, created_at)`
  yield* sql`create index password_reset_created on password_reset (created_at)`
  yield* sql`alter table password_reset enable row level security`
  yield* sql`alter table password_reset force row level security`
  yield* sql`
    create policy tenant on password_reset to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, update (digest, pepper_id) on password_reset to console_app`
  yield* sql`create policy directory on password_reset to console_service using (true)`
  yield* sql`grant select, delete on password_reset to console_service`

  // Whether the address belongs to anybody is not known yet: what was typed is sealed, whoever it is.
  yield* sql`
    create table password_reset_request (
      id uuid primary key,
      request_sealed text not null,
      created_at timestamptz(3) not null
    )`
  yield* sql`create index password_reset_request_created on password_reset_request (created_at, id)`
  yield* sql`grant select, insert, delete on password_reset_request to console_service`
})
