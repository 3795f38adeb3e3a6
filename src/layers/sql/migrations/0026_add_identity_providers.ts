import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What `console_app` may do with each table, and what the service may outside organizations. */
const tables = [
  ["identity_provider", "select, insert, update, delete", "select (organization_id, required)"],
  ["identity_link", "select, insert, delete", null],
  ["identity_sign_in", "select, insert", "select, delete"]
] as const

/** Keeps identity providers, whom they know, and which sign-ins by them were completed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table identity_provider (
      organization_id text collate "C" primary key references organization (id) on delete cascade,
      version uuid not null,
      issuer text collate "C" not null,
      client_id text collate "C" not null,
      client_secret_sealed text not null,
      required boolean not null,
      second_factor text not null check (second_factor in ('console', 'claim', 'provider')),
      private_network boolean not null,
      changed_at timestamptz(3) not null
    )`
  yield* sql`
    create table identity_link (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      issuer text collate "C" not null,
      subject text collate "C" not null,
      linked_at timestamptz(3) not null,
      primary key (organization_id, admin_id),
      unique (organization_id, issuer, subject),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
    )`
  // Each sign-in is completed once. Only those that somebody of the organization completed are kept.
  yield* sql`
    create table identity_sign_in (
      organization_id text collate "C" not null references organization (id) on delete cascade,
      digest text collate "C" not null,
      used_at timestamptz(3) not null,
      primary key (organization_id, digest)
    )`
  yield* sql`create index identity_sign_in_used on identity_sign_in (used_at)`

  yield* sql`
    alter table console_session
      drop constraint console_session_factor_check,
      add constraint console_session_factor_check
        check (factor in ('totp', 'passkey', 'recovery_code', 'identity_provider'))`

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
