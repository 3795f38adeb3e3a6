import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that are read or changed by whom row level security would keep from it; the wall stands again after. */
const opened = ["account", "journal_event", "journal_head"] as const

/** What only grows: no role changes or removes a row of these, not even their owner by mistake. */
const appendOnly = ["journal_event", "journal_checkpoint"] as const

/**
 * Makes the journal append-only again, with no column that its hashes do not cover, and gives it signed checkpoints.
 *
 * By which department an event is found is kept beside it, and follows the account.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`

  yield* sql`
    create table journal_place (
      organization_id text collate "C" not null references organization (id),
      sequence bigint not null,
      department_id uuid not null,
      primary key (organization_id, sequence)
    )`
  yield* sql`
    insert into journal_place (organization_id, sequence, department_id)
    select organization_id, sequence, department_id from journal_event where department_id is not null`
  yield* sql`create index journal_place_department on journal_place (organization_id, department_id, sequence)`
  // With the head locked no event is on its way: an older one is seen here, a newer one finds the account moved.
  yield* sql`
    create or replace function move_events() returns trigger language plpgsql as $$
    begin
      perform 1 from journal_head where organization_id = new.organization_id for update;
      delete from journal_place where organization_id = new.organization_id and sequence in (
        select sequence from journal_event where organization_id = new.organization_id and account_id = new.id);
      if new.department_id is not null then
        insert into journal_place (organization_id, sequence, department_id)
        select organization_id, sequence, new.department_id from journal_event
        where organization_id = new.organization_id and account_id = new.id;
      end if;
      return null;
    end $$`
  yield* sql`alter table journal_event drop column department_id`

  // A deployment's checkpoints are one chain: each names the digest of the one before, whichever organization's it is.
  yield* sql`
    create table journal_checkpoint (
      number bigint primary key,
      organization_id text collate "C" not null references organization (id),
      sequence bigint not null,
      hash text not null,
      at timestamptz(3) not null,
      previous text not null,
      key_id text not null,
      signature text not null,
      unique (organization_id, sequence)
    )`
  yield* sql`
    create table journal_unsigned (
      organization_id text collate "C" primary key references organization (id),
      due_at timestamptz(3) not null
    )`
  yield* sql`create index journal_unsigned_due on journal_unsigned (due_at)`
  yield* sql`
    insert into journal_unsigned (organization_id, due_at) select organization_id, at from journal_head where sequence > 0`
  yield* sql`
    create table journal_push (
      target text collate "C" primary key,
      number bigint not null,
      failures integer not null,
      free_at timestamptz(3) not null
    )`

  yield* sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise insufficient_privilege using message = 'The journal is append-only';
    end $$`
  for (const table of appendOnly) {
    yield* sql`
      create trigger append_only before update or delete or truncate on ${sql(table)}
      for each statement execute function refuse_change()`
  }

  const tenantTables = [
    ["journal_place", "select, insert, delete"],
    ["journal_checkpoint", "select"],
    ["journal_unsigned", "select, insert"]
  ] as const
  for (const [table, privileges] of tenantTables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (organization_id = current_setting('console.organization_id', true))`
    yield* sql`grant ${sql.literal(privileges)} on ${sql(table)} to console_app`
  }
  for (const table of ["journal_checkpoint", "journal_unsigned", "journal_head"]) {
    yield* sql`create policy directory on ${sql(table)} to current_user using (true)`
  }
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`
})
