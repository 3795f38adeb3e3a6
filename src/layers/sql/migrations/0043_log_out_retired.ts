import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that are read and written whole; their owner is let through the wall meanwhile. */
const opened = ["service_session", "account_task"] as const

/** Sessions that logins and pairings had put aside before are logged out too. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const until = new Date(now + Duration.toMillis(Duration.days(30)))
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`
  yield* sql`alter table service_session drop column retry_at`
  yield* sql`update service_session set erase_at = ${until} where slot = 'retired' and erase_at is null`
  yield* sql`
    insert into account_task (organization_id, account_id, kind, due_at)
    select distinct organization_id, account_id, 'log_out', ${new Date(now)}::timestamptz from service_session
    where slot = 'retired' on conflict do nothing`
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`
})
