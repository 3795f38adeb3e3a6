import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Every request reads the organization's facts: the seats that open links reserve are counted as links change. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table organization add column seats_reserved integer not null default 0 check (seats_reserved >= 0)`
  yield* sql`
    update organization set seats_reserved =
      (select count(*) from sign_up_link where organization_id = organization.id and used_at is null)`
  const seats = [["reserve_seats", "insert", "+"], ["release_seats", "delete", "-"]] as const
  for (const [name, event, sign] of seats) {
    yield* sql`
      create function ${sql(name)}() returns trigger language plpgsql as $$
      begin
        update organization set seats_reserved = seats_reserved ${sql.literal(sign)} changed.seats
        from (
          select organization_id, count(*) as seats from rows where used_at is null group by organization_id
        ) as changed
        where organization.id = changed.organization_id;
        return null;
      end $$`
    yield* sql`
      create trigger ${sql(name)} after ${sql.literal(event)} on sign_up_link
      referencing ${sql.literal(event === "insert" ? "new" : "old")} table as rows
      for each statement execute function ${sql(name)}()`
  }
  yield* sql`
    create function use_seat() returns trigger language plpgsql as $$
    begin
      update organization set seats_reserved = seats_reserved + case when new.used_at is null then 1 else -1 end
      where id = new.organization_id;
      return null;
    end $$`
  yield* sql`
    create trigger use_seat after update of used_at on sign_up_link for each row
    when ((old.used_at is null) <> (new.used_at is null)) execute function use_seat()`
})
