/** Which accounts a caller reaches, and which of them are in a status: the conditions that several queries share. */
import { Duration } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Caller, reachesEveryAccount } from "../../domain/Access.ts"
import { takeoverWindow } from "../../domain/Limits.ts"
import type { AccountStatus } from "../../domain/Status.ts"

/** What decides which accounts a caller reaches. */
export type Reaching = Pick<Caller["Service"], "adminId" | "limit" | "role">

/** Holds for a row of `account` that the admin reaches: every one, or those granted by themselves or by department. */
const ofAdmin = (sql: SqlClient.SqlClient, { adminId, role }: Reaching): Statement.Fragment =>
  reachesEveryAccount(role)
    ? sql`true`
    : sql`(
        exists (
          select 1 from admin_account granted
          where granted.organization_id = account.organization_id and granted.admin_id = ${adminId}
            and granted.account_id = account.id)
        or exists (
          select 1 from admin_department granted
          where granted.organization_id = account.organization_id and granted.admin_id = ${adminId}
            and granted.department_id = account.department_id))`

/** Holds for a row of `account` within the credential's own limit. */
const withinLimit = (sql: SqlClient.SqlClient, { limit }: Reaching): Statement.Fragment =>
  limit === null
    ? sql`true`
    : sql`${sql(limit.scopeType === "accounts" ? "account.id" : "account.department_id")} = any(${limit.ids}::uuid[])`

/** Holds for a row of `account` that the caller reaches: the admin does, and the credential is not limited to others. */
export const reachable = (sql: SqlClient.SqlClient, caller: Reaching): Statement.Fragment =>
  caller.limit === null ? ofAdmin(sql, caller) : sql`(${ofAdmin(sql, caller)} and ${withinLimit(sql, caller)})`

/** Holds for a row of `department` whose accounts the caller reaches, all of them. */
export const reachableDepartment = (sql: SqlClient.SqlClient, caller: Reaching): Statement.Fragment =>
  sql.and([
    reachesEveryAccount(caller.role)
      ? sql`true`
      : sql`exists (
          select 1 from admin_department granted
          where granted.organization_id = department.organization_id and granted.admin_id = ${caller.adminId}
            and granted.department_id = department.id)`,
    caller.limit === null
      ? sql`true`
      : caller.limit.scopeType === "accounts"
      ? sql`false`
      : sql`department.id = any(${caller.limit.ids}::uuid[])`
  ])

/** Holds for a row of `account` with a session that waits for its review. */
export const reviewPending = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`exists (
    select 1 from session
    where session.organization_id = account.organization_id and session.account_id = account.id
      and review_deadline is not null and approved_at is null and not service)`

/**
 * Holds for a row of `account` in the status at `now`: the rules of `deriveStatus`, in their order.
 *
 * Each rule stands beside its negation, written so that the partial indexes on the rare states apply.
 */
export const inStatus = (sql: SqlClient.SqlClient, status: AccountStatus, now: Date): Statement.Fragment => {
  const takeoverSince = new Date(now.getTime() - Duration.toMillis(takeoverWindow))
  const blocked = sql`(takeover_stopped_at is not null and takeover_stopped_at > ${takeoverSince}
    and (resumed_at is null or takeover_stopped_at > resumed_at))`
  const connecting = sql`(enforcement_active_at is not null and enforcement_active_at > ${now}
    and connected_at is not null and (resumed_at is null or connected_at > resumed_at))`
  const rules: ReadonlyArray<readonly [AccountStatus, holds: Statement.Fragment, not: Statement.Fragment]> = [
    ["available", sql`offboarded_at is not null`, sql`offboarded_at is null`],
    ["paused", sql`paused_at is not null`, sql`paused_at is null`],
    ["protection_stopped", sql`stopped_at is not null`, sql`stopped_at is null`],
    ["status_unknown", sql`monitoring_state = 'unknown'`, sql`monitoring_state <> 'unknown'`],
    ["hijack_blocked", blocked, sql`${blocked} is not true`],
    ["new_sign_in", reviewPending(sql), sql`not ${reviewPending(sql)}`],
    ["recently_connected", connecting, sql`${connecting} is not true`],
    ["protected", sql`true`, sql`false`]
  ]
  const place = rules.findIndex(([rule]) => rule === status)
  return sql.and(rules.slice(0, place + 1).map(([, holds, not], index) => index === place ? holds : not))
}
