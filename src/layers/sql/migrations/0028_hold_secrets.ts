import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tables = [
  ["account_key", "select, insert", "select, update (sealed)"],
  ["account_secret", "select, insert, update (slot, erase_at, revealed_at), delete", "select"],
  ["email_change", "select, insert, update, delete", "select"],
  ["account_attempt", "select, insert, update", "select, delete"],
  ["account_task", "select, insert, update, delete", "select"]
] as const

/**
 * Secrets of accounts, each under a key of its account; e-mail addresses that wait for their code; and what is left to
 * be done on the messenger.
 *
 * What a seed gave an account of the simulated platform before was sealed otherwise, and is not kept.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const account = sql.literal(
    "foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade"
  )
  yield* sql`
    create table account_key (
      organization_id text collate "C" not null,
      account_id uuid not null,
      sealed text not null,
      primary key (organization_id, account_id),
      ${account}
    )`
  // A retired one without a time was not judged yet: whether the messenger still takes it is not known.
  yield* sql`
    create table account_secret (
      organization_id text collate "C" not null,
      id uuid not null,
      account_id uuid not null,
      kind text not null check (kind in ('two_fa', 'passkey')),
      slot text not null check (slot in ('held', 'next', 'retired')),
      passkey_id text,
      sealed text not null,
      made_at timestamptz(3) not null,
      erase_at timestamptz(3),
      revealed_at timestamptz(3),
      check ((kind = 'passkey') = (passkey_id is not null)),
      primary key (organization_id, id),
      ${account}
    )`
  yield* sql`
    create unique index account_secret_slot on account_secret (organization_id, account_id, kind, slot)
    where slot <> 'retired'`
  yield* sql`create index account_secret_account on account_secret (organization_id, account_id)`
  yield* sql`create index account_secret_erased on account_secret (erase_at) where erase_at is not null`
  yield* sql`alter table account drop column two_fa_sealed, drop column passkey_id`

  yield* sql`
    create table email_change (
      organization_id text collate "C" not null,
      account_id uuid not null,
      kind text not null check (kind in ('recovery', 'login')),
      pattern text not null,
      code_length integer,
      attempts_left integer not null,
      expires_at timestamptz(3) not null,
      primary key (organization_id, account_id, kind),
      ${account}
    )`
  yield* sql`create index email_change_expiry on email_change (expires_at)`

  yield* sql`
    create table account_attempt (
      organization_id text collate "C" not null,
      account_id uuid not null,
      what text not null,
      times timestamptz(3)[] not null,
      last_at timestamptz(3) not null,
      primary key (organization_id, account_id, what),
      ${account}
    )`
  yield* sql`create index account_attempt_last on account_attempt (last_at)`

  yield* sql`
    create table account_task (
      organization_id text collate "C" not null,
      account_id uuid not null,
      kind text not null check (kind in ('rotate_two_fa', 'cancel_recovery_email', 'pair')),
      due_at timestamptz(3) not null,
      tries integer not null default 0,
      primary key (organization_id, account_id, kind),
      ${account}
    )`
  yield* sql`create index account_task_due on account_task (due_at)`

  for (const [table, tenant, service] of tables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`create policy directory on ${sql(table)} to console_service using (true)`
    yield* sql`grant ${sql.literal(tenant)} on ${sql(table)} to console_app`
    yield* sql`grant ${sql.literal(service)} on ${sql(table)} to console_service`
  }

  // The codes that the simulated platform has sent to addresses.
  yield* sql`alter table simulated_account add column email_codes jsonb not null default '{}'`
})
