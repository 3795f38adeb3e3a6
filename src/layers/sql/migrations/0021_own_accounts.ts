import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that are read whole; their owner is let through the wall meanwhile. */
const opened = ["account", "messenger_identity"] as const

/**
 * Says who has what on the messenger: a person is protected by one account of one organization, and of several
 * processes one watches.
 *
 * A tenant sees its own people alone; that a person is taken elsewhere it learns by a claim that brings no row.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table messenger_identity (
      messenger_user_id text collate "C" primary key,
      organization_id text collate "C" not null,
      account_id uuid not null,
      unique (organization_id, account_id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    )`
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`
  // Whose protection stopped for the licence's sake is held on to; where several have one person, the first keeps it.
  yield* sql`
    insert into messenger_identity (messenger_user_id, organization_id, account_id)
    select messenger_user_id, organization_id, id from account
    where session_ref is not null and offboarded_at is null
      and (stopped_at is null or stop_reason in ('licence', 'organization_suspended'))
    order by coalesce(connected_at, enrolled_at) nulls last, organization_id, id
    on conflict do nothing`
  yield* sql`alter table messenger_identity enable row level security`
  yield* sql`
    create policy tenant on messenger_identity to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, delete on messenger_identity to console_app`
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`

  // Who watches, and until when by the database's clock; each new holder has a higher term than all before it.
  yield* sql`
    create table watch_lease (
      id smallint primary key default 1 check (id = 1),
      holder uuid,
      place text,
      term bigint not null default 0,
      valid_until timestamptz(3) not null default '-infinity'
    )`
  yield* sql`insert into watch_lease default values`
  yield* sql`grant select, update on watch_lease to console_service`
})
