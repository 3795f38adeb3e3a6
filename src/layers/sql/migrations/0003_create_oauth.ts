import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tenantTables = [
  ["oauth_code", "select, insert, update, delete"],
  ["oauth_token", "select, insert, update, delete"]
] as const

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table oauth_client (
      id uuid primary key,
      issuer text not null,
      name text not null,
      redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
      auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'client_secret_post')),
      secret_digest text,
      pepper_id text,
      address text,
      created_at timestamptz(3) not null,
      check ((auth_method = 'none') = (secret_digest is null)),
      check ((secret_digest is null) = (pepper_id is null))
    )`
  yield* sql`create index oauth_client_created on oauth_client (created_at)`

  yield* sql`
    alter table ai_connection
      add column client_id uuid references oauth_client (id),
      add column resource text`
  yield* sql`create index ai_connection_client on ai_connection (client_id) where client_id is not null`

  yield* sql`
    create table oauth_code (
      organization_id text collate "C" not null,
      digest text collate "C" not null unique,
      pepper_id text not null,
      connection_id uuid not null,
      redirect_uri text not null,
      challenge text not null,
      scopes text[] not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      redeemed_at timestamptz(3),
      primary key (organization_id, digest),
      foreign key (organization_id, connection_id) references ai_connection (organization_id, id)
    )`
  yield* sql`create index oauth_code_connection on oauth_code (organization_id, connection_id)`
  yield* sql`create index oauth_code_expiry on oauth_code (expires_at)`

  yield* sql`
    create table oauth_token (
      organization_id text collate "C" not null,
      digest text collate "C" not null unique,
      pepper_id text not null,
      connection_id uuid not null,
      kind text not null check (kind in ('access', 'refresh')),
      scopes text[] not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      used_at timestamptz(3),
      check (kind = 'refresh' or used_at is null),
      primary key (organization_id, digest),
      foreign key (organization_id, connection_id) references ai_connection (organization_id, id)
    )`
  yield* sql`create index oauth_token_connection on oauth_token (organization_id, connection_id)`
  yield* sql`create index oauth_token_expiry on oauth_token (expires_at)`

  for (const [table, privileges] of tenantTables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant ${sql.literal(privileges)} on ${sql(table)} to console_app`
    yield* sql`create policy directory on ${sql(table)} to current_user using (true)`
  }
  yield* sql`create policy directory on ai_connection to current_user using (true)`
})
