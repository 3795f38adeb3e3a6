import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Logins by which accounts are connected, step by step: what a step needs of the one before is sealed in the row, so
 * that any process goes on with it.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // The reference of the session is made with the row; the state is kept until nothing of the login is left behind.
  yield* sql`
    create table login (
      organization_id text collate "C" not null references organization (id) on delete cascade,
      id uuid not null,
      kind text not null check (kind in ('connect', 'relogin')),
      account_id uuid,
      phone_number text collate "C" not null,
      role_label text,
      department_id uuid,
      state text not null
        check (state in ('code_sent', 'password_needed', 'completed', 'failed', 'expired', 'cancelled')),
      code_delivery text check (code_delivery in ('app', 'sms', 'call', 'email', 'other')),
      code_length integer,
      resend_at timestamptz(3),
      resends integer not null default 0,
      password_hint text,
      attempts_left integer not null check (attempts_left >= 0),
      error text,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      ended_at timestamptz(3),
      started_by uuid not null,
      session_ref text not null unique,
      state_sealed text,
      busy_by uuid,
      busy_until timestamptz(3),
      check ((ended_at is null) = (state in ('code_sent', 'password_needed'))),
      check ((busy_by is null) = (busy_until is null)),
      check (kind = 'connect' or account_id is not null),
      primary key (organization_id, id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade,
      foreign key (organization_id, department_id) references department (organization_id, id)
        on delete set null (department_id),
      foreign key (organization_id, started_by) references admin (organization_id, id) on delete cascade
    )`
  yield* sql`
    create unique index login_open on login (organization_id, phone_number)
    where state in ('code_sent', 'password_needed')`
  yield* sql`create index login_started on login (organization_id, created_at)`
  yield* sql`create index login_number on login (organization_id, phone_number, created_at)`
  yield* sql`create index login_account on login (organization_id, account_id) where account_id is not null`
  yield* sql`create index login_department on login (organization_id, department_id) where department_id is not null`
  yield* sql`create index login_admin on login (organization_id, started_by)`
  yield* sql`
    create index login_left on login (expires_at)
    where state in ('code_sent', 'password_needed') or state_sealed is not null`
  yield* sql`create index login_ended on login (ended_at) where ended_at is not null`
  yield* sql`alter table login enable row level security`
  yield* sql`alter table login force row level security`
  yield* sql`
    create policy tenant on login to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, update on login to console_app`
  yield* sql`create policy directory on login to console_service using (true)`
  yield* sql`grant select, delete on login to console_service`

  // Logins that are under way on the simulated messenger.
  yield* sql`alter table simulated_account add column two_fa_hint text`
  yield* sql`
    create table simulated_login (
      session_ref text primary key,
      user_id text not null references simulated_account (user_id) on delete cascade,
      phone text not null,
      code text not null,
      channel text not null check (channel in ('app', 'sms', 'call', 'email')),
      sent_at timestamptz(3) not null,
      resend_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      codes_left integer not null,
      passwords_left integer not null
    )`
  yield* sql`create index simulated_login_sent on simulated_login (sent_at)`
  yield* sql`grant select, insert, update, delete on simulated_login to console_service`
})
