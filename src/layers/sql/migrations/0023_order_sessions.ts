import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that are read whole; their owner is let through the wall meanwhile. */
const opened = ["account", "session"] as const

/**
 * Keeps the place that a session has in the list of reviews: by its deadline, then by when it was first seen, the
 * newest first, so that ascending indexes find a page of an organization, and of a department, however many sessions
 * there are.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`

  // Null where the list does not show it. Of an interval from when it was seen, the newest is the least.
  yield* sql`
    alter table session
      add column department_id uuid,
      add column listed_as text collate "C" generated always as (
        case
          when service or current then null
          when review_deadline is not null and approved_at is null then 'due'
          when queued_at is not null then 'queued'
          when approved_at is not null then 'approved'
          when baseline then 'unreviewed'
          else 'other'
        end) stored,
      add column listed_due timestamptz(3) not null generated always as (
        case when approved_at is null then coalesce(review_deadline, 'infinity'::timestamptz)
          else 'infinity'::timestamptz end) stored,
      add column listed_after interval not null generated always as (
        '2000-01-01 00:00:00Z'::timestamptz - seen_at) stored`
  yield* sql`
    update session set department_id = account.department_id from account
    where account.organization_id = session.organization_id and account.id = session.account_id
      and account.department_id is not null`
  yield* sql`drop index session_deadline`
  yield* sql`
    create index session_listed on session (organization_id, listed_as, listed_due, listed_after, record_id)
    where listed_as is not null`
  yield* sql`
    create index session_filed
    on session (organization_id, department_id, listed_as, listed_due, listed_after, record_id)
    where listed_as is not null and department_id is not null`

  // Whoever adds a session has locked its account, as whoever moves the account has.
  yield* sql`
    create function file_session() returns trigger language plpgsql as $$
    begin
      select department_id into new.department_id from account
      where organization_id = new.organization_id and id = new.account_id;
      return new;
    end $$`
  yield* sql`
    create trigger file_session before insert on session for each row execute function file_session()`
  yield* sql`
    create function refile_sessions() returns trigger language plpgsql as $$
    begin
      update session set department_id = new.department_id
      where organization_id = new.organization_id and account_id = new.id;
      return null;
    end $$`
  yield* sql`
    create trigger refile_sessions after update of department_id on account for each row
    when (old.department_id is distinct from new.department_id) execute function refile_sessions()`
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`
})
