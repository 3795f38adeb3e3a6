import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that this migration fills in; their owner is let through the wall meanwhile. */
const filled = ["account", "session", "journal_event"] as const

/**
 * Keeps beside the facts what pages are found by, so that a page costs the same in every organization: an account's
 * standing, which is its status until time alone changes it, the seats in use, and where an event's account is filed.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // Only operators of these types are immutable: a moment and an interval go by way of UTC.
  const takeoverUntil = sql`((takeover_stopped_at at time zone 'UTC') + interval '48 hours') at time zone 'UTC'`
  const settled = sql`offboarded_at is not null or paused_at is not null or stopped_at is not null
    or monitoring_state = 'unknown'`
  const blocked = sql`takeover_stopped_at is not null and (resumed_at is null or takeover_stopped_at > resumed_at)
    and (settled_at is null or settled_at < ${takeoverUntil})`
  const connecting = sql`enforcement_active_at is not null and connected_at is not null
    and (resumed_at is null or connected_at > resumed_at)
    and (settled_at is null or settled_at < enforcement_active_at)`

  for (const table of filled) yield* sql`alter table ${sql(table)} no force row level security`

  yield* sql`
    alter table account
      add column reviews integer not null default 0 check (reviews >= 0),
      add column settled_at timestamptz(3)`
  yield* sql`
    update account set reviews = (
      select count(*) from session
      where session.organization_id = account.organization_id and session.account_id = account.id
        and review_deadline is not null and approved_at is null and not service)`
  yield* sql`
    alter table account
      add column standing text collate "C" not null generated always as (
        case
          when offboarded_at is not null then 'available'
          when paused_at is not null then 'paused'
          when stopped_at is not null then 'protection_stopped'
          when monitoring_state = 'unknown' then 'status_unknown'
          when ${blocked} then 'hijack_blocked'
          when reviews > 0 then 'new_sign_in'
          when ${connecting} then 'recently_connected'
          else 'protected'
        end) stored,
      add column standing_until timestamptz(3) generated always as (
        case
          when ${settled} then null
          when ${blocked} then ${takeoverUntil}
          when reviews > 0 then null
          when ${connecting} then enforcement_active_at
        end) stored`
  for (
    const index of [
      "account_available",
      "account_paused",
      "account_stopped",
      "account_unknown",
      "account_takeover",
      "account_enforcement"
    ]
  ) {
    yield* sql`drop index ${sql(index)}`
  }
  yield* sql`create index account_standing on account (organization_id, standing, name_key, id)`
  yield* sql`
    create index account_department_standing on account (organization_id, department_id, standing, name_key, id)`
  yield* sql`
    create index account_standing_until on account (organization_id, standing_until) where standing_until is not null`

  yield* sql`
    create function waits_for_review(session) returns integer language sql immutable
    return case when $1.review_deadline is not null and $1.approved_at is null and not $1.service then 1 else 0 end`
  yield* sql`
    create function count_review() returns trigger language plpgsql as $$
    declare
      change integer := waits_for_review(new) - waits_for_review(old);
    begin
      if change <> 0 then
        update account set reviews = reviews + change
        where organization_id = coalesce(new.organization_id, old.organization_id)
          and id = coalesce(new.account_id, old.account_id);
      end if;
      return null;
    end $$`
  yield* sql`
    create trigger session_review after insert or delete or update of review_deadline, approved_at, service on session
    for each row execute function count_review()`

  yield* sql`alter table organization add column seats_used integer not null default 0 check (seats_used >= 0)`
  yield* sql`
    update organization set seats_used =
      (select count(*) from account where organization_id = organization.id and offboarded_at is null)`
  const seats = [["take_seats", "insert", "new", "+"], ["free_seats", "delete", "old", "-"]] as const
  for (const [name, event, rows, sign] of seats) {
    yield* sql`
      create function ${sql(name)}() returns trigger language plpgsql as $$
      begin
        update organization set seats_used = seats_used ${sql.literal(sign)} changed.seats
        from (
          select organization_id, count(*) as seats from rows where offboarded_at is null group by organization_id
        ) as changed
        where organization.id = changed.organization_id;
        return null;
      end $$`
    yield* sql`
      create trigger ${sql(name)} after ${sql.literal(event)} on account referencing ${sql.literal(rows)} table as rows
      for each statement execute function ${sql(name)}()`
  }
  yield* sql`
    create function move_seat() returns trigger language plpgsql as $$
    begin
      update organization set seats_used = seats_used + case when new.offboarded_at is null then 1 else -1 end
      where id = new.organization_id;
      return null;
    end $$`
  yield* sql`
    create trigger move_seat after update of offboarded_at on account for each row
    when ((old.offboarded_at is null) <> (new.offboarded_at is null)) execute function move_seat()`

  yield* sql`
    alter table journal_event
      add column department_id uuid,
      add column object text collate "C" not null generated always as (split_part(action, '.', 1)) stored`
  yield* sql`
    update journal_event set department_id = account.department_id from account
    where account.organization_id = journal_event.organization_id and account.id = journal_event.account_id
      and account.department_id is not null`
  yield* sql`create index journal_event_object on journal_event (organization_id, object, sequence)`
  yield* sql`create index journal_event_department on journal_event (organization_id, department_id, sequence)`
  yield* sql`
    create index journal_event_alone on journal_event (organization_id, sequence) where account_id is null`
  yield* sql`
    create index journal_event_admin_alone on journal_event (organization_id, actor_admin_id, sequence)
    where account_id is null`
  yield* sql`drop index journal_event_outcome`
  yield* sql`create index journal_event_outcome on journal_event (organization_id, outcome, sequence)`
  // With the head locked no event is on its way: an older one is seen here, a newer one finds the account moved.
  yield* sql`
    create function move_events() returns trigger language plpgsql as $$
    begin
      perform 1 from journal_head where organization_id = new.organization_id for update;
      update journal_event set department_id = new.department_id
      where organization_id = new.organization_id and account_id = new.id;
      return null;
    end $$`
  yield* sql`
    create trigger account_moved after update of department_id on account for each row
    when (old.department_id is distinct from new.department_id) execute function move_events()`
  yield* sql`grant update (department_id) on journal_event to console_app`

  for (const table of filled) yield* sql`alter table ${sql(table)} force row level security`
})
