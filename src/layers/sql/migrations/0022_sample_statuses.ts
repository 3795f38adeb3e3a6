import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Keeps how many accounts of each organization were in each status over time, for charts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table status_sample (
      organization_id text collate "C" not null,
      at timestamptz(3) not null,
      accounts jsonb not null,
      primary key (organization_id, at),
      foreign key (organization_id) references organization (id) on delete cascade
    )`
  yield* sql`create index status_sample_at on status_sample (at)`
  yield* sql`alter table status_sample enable row level security`
  yield* sql`alter table status_sample force row level security`
  yield* sql`
    create policy tenant on status_sample to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select on status_sample to console_app`
  yield* sql`create policy directory on status_sample to console_service using (true)`
  yield* sql`grant select, insert, delete on status_sample to console_service`
  yield* sql`grant select (status) on account to console_service`
})
