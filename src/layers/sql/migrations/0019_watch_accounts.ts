import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that are read whole; their owner is let through the wall meanwhile. */
const opened = ["account", "session"] as const

/** The tables of the engine: what each role may do with them. */
const tables = [
  ["monitor", "select, insert, update", "select, update"],
  ["service_session", "select, insert, update, delete", "select"]
] as const

/**
 * Lets accounts be watched: what the engine writes at every look stands in one narrow row of each account, the sessions
 * of the service in rows of their own, and a session says why it is being signed out before it is.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`

  // The slot is what several workers will share the accounts by.
  yield* sql`
    create table monitor (
      organization_id text collate "C" not null,
      account_id uuid not null,
      slot smallint not null generated always as (
        (((get_byte(uuid_send(account_id), 14) & 3) << 8) | get_byte(uuid_send(account_id), 15))::smallint) stored,
      epoch integer not null default 0,
      next_at timestamptz(3),
      urgent boolean not null default false,
      due_at timestamptz(3),
      look_at timestamptz(3),
      busy_by uuid,
      busy_until timestamptz(3),
      fence bigint not null default 0,
      started_at timestamptz(3),
      last_polled_at timestamptz(3),
      last_ok_at timestamptz(3),
      last_poll_error text,
      failures integer not null default 0,
      first_failure_at timestamptz(3),
      flood_until timestamptz(3),
      sign_out_retry_at timestamptz(3),
      seen_mark text collate "C",
      facets jsonb not null default '{}',
      primary key (organization_id, account_id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    ) with (fillfactor = 50)`
  yield* sql`
    insert into monitor (organization_id, account_id, next_at, started_at, last_polled_at, last_ok_at, last_poll_error,
      failures)
    select organization_id, id,
      case
        when session_ref is not null and monitoring_state <> 'stopped' and offboarded_at is null and paused_at is null
          and stopped_at is null
        then ${now}::timestamptz
      end,
      coalesce(resumed_at, enrolled_at), last_polled_at, last_ok_at, last_poll_error, failures
    from account`
  yield* sql`alter table account drop column last_polled_at, drop column last_ok_at, drop column last_poll_error,
    drop column failures`
  yield* sql`create index monitor_due on monitor (urgent, next_at) where next_at is not null`
  yield* sql`create index monitor_busy on monitor (busy_until) where busy_until is not null`
  yield* sql`
    create function watch_accounts() returns trigger language plpgsql as $$
    begin
      insert into monitor (organization_id, account_id) select organization_id, id from rows;
      return null;
    end $$`
  yield* sql`
    create trigger watch_accounts after insert on account referencing new table as rows
    for each statement execute function watch_accounts()`

  yield* sql`
    create table service_session (
      organization_id text collate "C" not null,
      id uuid not null default gen_random_uuid(),
      account_id uuid not null,
      slot text not null check (slot in ('main', 'paired', 'pairing', 'retired')),
      session_ref text not null,
      seen_as text,
      created_at timestamptz(3) not null,
      retry_at timestamptz(3),
      erase_at timestamptz(3),
      primary key (organization_id, id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    )`
  yield* sql`
    create unique index service_session_slot on service_session (organization_id, account_id, slot)
    where slot <> 'retired'`
  yield* sql`
    insert into service_session (organization_id, account_id, slot, session_ref, created_at)
    select organization_id, id, 'main', session_ref,
      coalesce(enforcement_active_at - interval '24 hours', connected_at, enrolled_at, ${now}::timestamptz)
    from account where session_ref is not null`

  yield* sql`
    alter table session
      add column record_id uuid not null default gen_random_uuid(),
      add column ending_reason text check (ending_reason in ('rejected', 'autokill', 'hijacked')),
      add column ending_at timestamptz(3),
      add column ending_by uuid,
      add column ending_intent bigint,
      add column withheld_reason text check (withheld_reason in ('rejected', 'autokill', 'hijacked'))`
  yield* sql`create unique index session_record on session (organization_id, record_id)`
  yield* sql`
    create index session_deadline on session (organization_id, review_deadline)
    where review_deadline is not null and approved_at is null and not service`
  yield* sql`create index termination_session on termination (organization_id, account_id, session_id)`
  yield* sql`grant update (deadline) on pending_change to console_app`

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
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`
})
