/**
 * The status of accounts as their rows keep it, for lists to find: what it is, until when, and what time alone makes of
 * it then. Everything that changes a fact of the status writes it again.
 */
import { Clock, Duration, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import {
  type AccountStatus,
  endedByTime,
  reachedByTime,
  type StatusFacts,
  statusPeriods
} from "../../../domain/accounts/ProtectionStatus.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The columns that keep the status that follows from the facts from `now` on. */
export const statusColumns = (facts: StatusFacts, now: Date) => {
  const [{ status, until }, ...later] = statusPeriods(facts, now)
  return {
    status,
    status_until: until,
    /** The statuses that follow, and the time that each begins. */
    later_statuses: later.map((period) => period.status),
    status_changes: [until, ...later.map((period) => period.until)].filter((moment) => moment !== null)
  }
}

/** Writes the statuses of accounts whose facts or sessions have changed; within the organization's transaction. */
export const save = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: string, ids: ReadonlyArray<string>, now: Date) {
    const accounts = yield* sql<StatusFacts & { readonly id: string }>`
      select id, offboarded_at, paused_at, stopped_at, monitoring_state, takeover_stopped_at, resumed_at, connected_at,
        enforcement_active_at, exists (
          select 1 from session
          where session.organization_id = account.organization_id and session.account_id = account.id
            and review_deadline is not null and approved_at is null and not service) as review_pending
      from account where organization_id = ${organizationId} and id = any(${ids}::uuid[])
      order by id for no key update of account`
    const rows = accounts.map((facts) => ({
      id: facts.id,
      review_pending: facts.review_pending,
      ...statusColumns(facts, now)
    }))
    yield* Tenant.post(sql)(sql`
      update account set review_pending = made.review_pending, status = made.status, status_until = made.status_until,
        later_statuses = made.later_statuses, status_changes = made.status_changes
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as made (id uuid, review_pending boolean, status text,
        status_until timestamptz, later_statuses text[], status_changes timestamptz[])
      where account.organization_id = ${organizationId} and account.id = made.id`)
  }
)

/** The conditions of the statuses at a moment; each account meets exactly one of them. */
export interface StatusConditions {
  readonly now: Date
  /** Goes by the status that is kept. */
  readonly kept: Statement.Fragment
  /** Holds where the kept status has ended and is not refreshed yet, which `refresh` keeps few. */
  readonly ended: Statement.Fragment | undefined
}

/** Conditions on `account` for a status at `now`. */
export const inStatus = (sql: SqlClient.SqlClient, status: AccountStatus, now: Date): StatusConditions => ({
  now,
  // Most have not ended: as a test of truth the comparison keeps pages from being read in the order of the ends.
  kept: endedByTime.includes(status)
    ? sql`status = ${status} and (status_until > ${now}) is true`
    : sql`status = ${status}`,
  ended: reachedByTime.includes(status)
    ? sql`later_statuses[width_bucket(${now}::timestamptz, status_changes)] = ${status}`
    : undefined
})

/** Accounts whose status ended this recently are left alone: the clocks of replicas may differ by a moment. */
const margin = Duration.minutes(1)

/** The number of accounts that one statement refreshes, and of statements that one run makes at most. */
const batch = 1000
const batches = 100

/**
 * Refreshes the kept statuses that ended a minute ago or earlier, of all organizations, and answers how many. The rows
 * themselves say what follows, so that no fact is read; those that another process has locked are skipped.
 */
export const refresh = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const until = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(margin))
  const some = Tenant.directory(sql)(sql<{ refreshed: number }>`
    with due as (
      select organization_id, id from account where status_until <= ${until}
      order by status_until limit ${batch} for no key update skip locked
    ), refreshed as (
      update account set (status, status_until, later_statuses, status_changes) = (
        select later_statuses[place], status_changes[place + 1], later_statuses[place + 1:], status_changes[place + 1:]
        from width_bucket(${until}::timestamptz, status_changes) as place)
      from due where account.organization_id = due.organization_id and account.id = due.id and status_until <= ${until}
      returning account.id
    )
    select count(*) as refreshed from refreshed`)
  let refreshed = 0
  for (let each = 0; each < batches; each++) {
    const found = (yield* some)[0]?.refreshed ?? 0
    refreshed += found
    if (found < batch) break
  }
  return refreshed
})
