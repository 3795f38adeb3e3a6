import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mails that are to be sent, requests to the support, and what a subscription and the status show besides. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // A letter may hold a link that is a secret: it is sealed, and erased once it is sent or given up.
  yield* sql`
    create table mail (
      organization_id text collate "C" not null references organization (id) on delete cascade,
      id uuid not null,
      recipient text not null,
      cause text collate "C" not null,
      kind text collate "C" not null,
      joins boolean not null,
      letter_sealed text,
      created_at timestamptz(3) not null,
      next_at timestamptz(3),
      attempts integer not null default 0,
      claimed_by uuid,
      claimed_until timestamptz(3),
      sent_at timestamptz(3),
      failed_at timestamptz(3),
      error text,
      check ((next_at is null) = (letter_sealed is null)),
      check ((next_at is null) = (sent_at is not null or failed_at is not null)),
      primary key (organization_id, id, recipient),
      unique (organization_id, cause, recipient)
    )`
  yield* sql`create index mail_due on mail (next_at) where next_at is not null`
  yield* sql`create index mail_waiting on mail (organization_id, recipient, created_at) where next_at is not null`
  yield* sql`create index mail_failed on mail (organization_id, failed_at) where failed_at is not null`
  yield* sql`create index mail_created on mail (created_at)`

  // The event that this transaction has appended last; the head is then locked until its end.
  yield* sql`
    create function appended_event(p_organization_id text) returns text
    language plpgsql volatile security invoker set search_path = public, pg_temp as $$
    declare
      v_sequence bigint;
    begin
      select sequence into v_sequence from journal_head
      where organization_id = p_organization_id and xmin = pg_current_xact_id()::xid;
      if not found then
        raise invalid_transaction_state using message = 'The transaction has appended no event';
      end if;
      return 'event/' || v_sequence;
    end $$`
  yield* sql`revoke all on function appended_event(text) from public`
  yield* sql`grant execute on function appended_event(text) to console_app`

  yield* sql`
    create table support_request (
      organization_id text collate "C" not null references organization (id),
      id uuid not null,
      number integer not null,
      category text not null check (category in ('protection', 'archive', 'billing', 'api', 'other')),
      subject text not null,
      message text not null,
      account_id uuid,
      related_request_id text,
      state text not null default 'open' check (state in ('open', 'answered', 'closed')),
      answer text,
      answered_at timestamptz(3),
      created_by uuid not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      check ((answer is null) = (answered_at is null)),
      primary key (organization_id, id),
      unique (organization_id, number),
      foreign key (organization_id, created_by) references admin (organization_id, id)
    )`
  yield* sql`create index support_request_of_admin on support_request (organization_id, created_by, number)`

  const tables = [
    [
      "mail",
      "select, insert (organization_id, id, recipient, cause, kind, joins, letter_sealed, created_at, next_at)"
    ],
    ["support_request", "select, insert, update (state, answer, answered_at, updated_at)"]
  ] as const
  for (const [table, privileges] of tables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant ${sql.literal(privileges)} on ${sql(table)} to console_app`
  }
  yield* sql`create policy directory on mail to console_service using (true)`
  yield* sql`
    grant select, update (letter_sealed, next_at, attempts, claimed_by, claimed_until, sent_at, failed_at, error), delete
    on mail to console_service`

  yield* sql`
    alter table organization
      add column suspended_at timestamptz(3),
      add column suspend_reason text check (suspend_reason in ('operator', 'licence')),
      add column cancel_at timestamptz(3),
      add column current_period_ends_at timestamptz(3),
      add column amount_minor integer check (amount_minor >= 0),
      add column currency text check (currency ~ '^[A-Z]{3}$'),
      add column payer_email text,
      add column next_invoice_at timestamptz(3),
      add column support_number integer not null default 0,
      add check ((amount_minor is null) = (currency is null)),
      add check ((suspended_at is null) = (suspend_reason is null))`
  yield* sql`
    alter table journal_head
      add column checked_sequence bigint,
      add column checked_hash text,
      add column checked_at timestamptz(3),
      add column checked_ok boolean`
})
