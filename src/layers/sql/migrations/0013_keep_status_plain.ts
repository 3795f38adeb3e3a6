import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountStatus, type StatusFacts } from "../../../domain/accounts/ProtectionStatus.ts"
import { statusColumns } from "../accounts/AccountStatuses.ts"

/** The tables that are read whole; their owner is let through the wall meanwhile. */
const opened = ["account", "session"] as const

const batch = 5000

const statuses = AccountStatus.literals.map((status) => `'${status}'`).join(", ")

type Row = StatusFacts & { readonly organization_id: string; readonly id: string }

/** Keeps the status of an account, until when it holds and what follows in plain columns, written with its facts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  for (const table of opened) yield* sql`alter table ${sql(table)} no force row level security`

  yield* sql`drop trigger session_review on session`
  yield* sql`drop function count_review()`
  yield* sql`drop function waits_for_review(session)`
  yield* sql`
    alter table account drop column standing, drop column standing_until, drop column settled_at, drop column reviews,
      add column review_pending boolean not null default false,
      add column status text collate "C" check (status in (${sql.literal(statuses)})),
      add column status_until timestamptz(3),
      add column later_statuses text[] not null default '{}',
      add column status_changes timestamptz(3)[] not null default '{}',
      add check (cardinality(later_statuses) = cardinality(status_changes)),
      add check (status_until is not distinct from status_changes[1])`

  let after: Row | undefined
  do {
    const rows = yield* sql<Row>`
      select organization_id, id, offboarded_at, paused_at, stopped_at, monitoring_state, takeover_stopped_at,
        resumed_at, connected_at, enforcement_active_at, exists (
          select 1 from session
          where session.organization_id = account.organization_id and session.account_id = account.id
            and review_deadline is not null and approved_at is null and not service) as review_pending
      from account
      where ${
      after === undefined ? sql`true` : sql`(organization_id, id) > (${after.organization_id}, ${after.id}::uuid)`
    }
      order by organization_id, id limit ${batch}`
    const made = rows.map((facts) => ({
      organization_id: facts.organization_id,
      id: facts.id,
      review_pending: facts.review_pending,
      ...statusColumns(facts, now)
    }))
    yield* sql`
      update account set review_pending = made.review_pending, status = made.status, status_until = made.status_until,
        later_statuses = made.later_statuses, status_changes = made.status_changes
      from jsonb_to_recordset(${JSON.stringify(made)}::jsonb) as made (organization_id text, id uuid,
        review_pending boolean, status text, status_until timestamptz, later_statuses text[],
        status_changes timestamptz[])
      where account.organization_id = made.organization_id and account.id = made.id`
    after = rows.length < batch ? undefined : rows.at(-1)
  } while (after !== undefined)

  yield* sql`alter table account alter column status set not null`
  yield* sql`create index account_status on account (organization_id, status, name_key, id)`
  yield* sql`create index account_department_status on account (organization_id, department_id, status, name_key, id)`
  yield* sql`
    create index account_status_until on account (organization_id, status_until) where status_until is not null`
  yield* sql`create index account_status_due on account (status_until) where status_until is not null`
  for (const table of opened) yield* sql`alter table ${sql(table)} force row level security`

  // Whoever refreshes sees of accounts their ids and when their status ends, and changes nothing else.
  yield* sql`create policy directory on account to console_service using (true)`
  yield* sql`
    grant select (organization_id, id, status_until, later_statuses, status_changes),
      update (status, status_until, later_statuses, status_changes) on account to console_service`
})
