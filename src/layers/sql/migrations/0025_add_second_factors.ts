import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What `console_app` may do with each table, and what the service may outside organizations. */
const tables = [
  ["pending_sign_in", "select, insert, update (failures), delete", "select, delete"],
  ["totp", "select, insert, update (secret_sealed, used_step, created_at), delete", null],
  ["recovery_code", "select, insert, update (used_at), delete", null],
  [
    "passkey",
    "select, insert, update (counter, backed_up, last_used_at, asked_at), delete",
    "select (organization_id, admin_id, credential_id)"
  ]
] as const

/** Keeps second factors, and the sign-ins that wait for one. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table organization add column requires_second_factor boolean not null default false`
  yield* sql`
    alter table console_session
      add column factor text check (factor in ('totp', 'passkey', 'recovery_code')),
      add column factor_at timestamptz(3),
      add check ((factor is null) = (factor_at is null))`

  // Between the first factor and the second, in the browser of its cookie alone.
  yield* sql`
    create table pending_sign_in (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      digest text collate "C" not null unique,
      created_at timestamptz(3) not null,
      failures integer not null default 0,
      details jsonb not null default '{}',
      primary key (organization_id, id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`create index pending_sign_in_admin on pending_sign_in (organization_id, admin_id)`
  yield* sql`create index pending_sign_in_created on pending_sign_in (created_at)`

  // The time step of the code that was used last: no code of it or of an earlier one works again.
  yield* sql`
    create table totp (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      secret_sealed text not null,
      used_step bigint not null,
      created_at timestamptz(3) not null,
      primary key (organization_id, admin_id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`

  yield* sql`
    create table recovery_code (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      digest text collate "C" not null,
      created_at timestamptz(3) not null,
      used_at timestamptz(3),
      primary key (organization_id, admin_id, digest),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`

  // When the challenge was made that was answered last: no challenge of that moment or of an earlier one is answered
  // again.
  yield* sql`
    create table passkey (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      credential_id text collate "C" not null,
      rp_id text collate "C" not null,
      public_key text not null,
      counter bigint not null,
      transports text[] not null,
      name text not null,
      backed_up boolean not null,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      asked_at timestamptz(3),
      primary key (organization_id, id),
      unique (organization_id, credential_id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`create index passkey_admin on passkey (organization_id, admin_id)`
  yield* sql`create index passkey_credential on passkey (credential_id)`

  for (const [table, allowed, outside] of tables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant ${sql.literal(allowed)} on ${sql(table)} to console_app`
    if (outside === null) continue
    yield* sql`create policy directory on ${sql(table)} to console_service using (true)`
    yield* sql`grant ${sql.literal(outside)} on ${sql(table)} to console_service`
  }
})
