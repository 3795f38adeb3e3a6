import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { nameKey } from "../../../domain/accounts/Account.ts"
import { offboarded, paused, resumed } from "../../../domain/accounts/ProtectionStatus.ts"
import type { Accounts } from "../../../ports/index.ts"
import { Alarm } from "../../../ports/protection/Alarm.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isSpared } from "../sessions/Sessions.ts"
import { statusColumns } from "./AccountStatuses.ts"
import * as SearchTexts from "./SearchTexts.ts"

/** Changes to accounts, within the transaction that is open. */
export const make = Effect.gen(function*() {
  const alarm = yield* Alarm
  const sql = yield* SqlClient.SqlClient
  const post = Tenant.post(sql)

  return {
    pause: Effect.fnUntraced(function*(organizationId, account, now) {
      const changed = paused(now)
      yield* post(sql`
        update account set ${sql.update({ ...changed, ...statusColumns({ ...account, ...changed }, now) })}
        where organization_id = ${organizationId} and id = ${account.id}`)
      yield* post(sql`
        update monitor set epoch = epoch + 1, next_at = null, urgent = false
        where organization_id = ${organizationId} and account_id = ${account.id}`)
      // The origin, and that it may have been sent, stay: a session that is gone later was signed out by us.
      const ended = yield* sql`
        update session set review_deadline = null, queued_at = null, ending_reason = null, ending_at = null,
          withheld_at = coalesce(queued_at, ending_at, withheld_at),
          withheld_reason = case when queued_at is null and ending_at is null then withheld_reason
            else ending_reason end
        where organization_id = ${organizationId} and account_id = ${account.id}
          and (review_deadline is not null or queued_at is not null or ending_reason is not null)
          and not ${sql.literal(isSpared)}
        returning id`
      return ended.length
    }, Effect.orDie),

    resume: Effect.fnUntraced(function*(organizationId, account, now) {
      const changed = resumed(now)
      yield* post(sql`
        update account set stop_reason = null,
          ${sql.update({ ...changed, ...statusColumns({ ...account, ...changed }, now) })}
        where organization_id = ${organizationId} and id = ${account.id}`)
      // Polled even without a session: that it is lost is reported again, and shows again.
      yield* post(sql`
        update monitor set epoch = epoch + 1, next_at = ${now}, urgent = true, started_at = ${now},
          failures = 0, first_failure_at = null, last_poll_error = null
        where organization_id = ${organizationId} and account_id = ${account.id}`)
      yield* alarm.ring
    }),

    offboard: Effect.fnUntraced(function*(organizationId, account, now) {
      const changed = offboarded(now)
      yield* post(sql`delete from session where organization_id = ${organizationId} and account_id = ${account.id}`)
      yield* post(sql`
        update account set stop_reason = null, licence_stopped_at = null, session_ref = null, locked_at = null,
          lock_reason = null,
          ${sql.update({ ...changed, ...statusColumns({ ...account, ...changed }, now) })}
        where organization_id = ${organizationId} and id = ${account.id}`)
      yield* post(sql`
        update monitor set epoch = epoch + 1, next_at = null, urgent = false, due_at = null, look_at = null,
          seen_mark = null, facets = '{}', sign_out_retry_at = null
        where organization_id = ${organizationId} and account_id = ${account.id}`)
    }),

    remove: (organizationId, id) =>
      post(sql`
        with rules as (
          delete from archive_rule
          where organization_id = ${organizationId} and level = 'account' and target = ${id}
        ) delete from account where organization_id = ${organizationId} and id = ${id}`),

    setSecurityLock: (organizationId, account, enabled) =>
      post(sql`
        update account set security_lock = ${enabled}
        where organization_id = ${organizationId} and id = ${account.id}`),

    releaseTakeoverLock: (organizationId, account) =>
      post(sql`
        update account set locked_at = null, lock_reason = null
        where organization_id = ${organizationId} and id = ${account.id}`),

    setRoleLabel: (organizationId, account, label) =>
      post(sql`
        with changed as (
          update account set role_label = ${label} where organization_id = ${organizationId} and id = ${account.id}
        ) ${SearchTexts.set(sql, organizationId, account.id, { ...account, role_label: label })}`),

    setConsent: (organizationId, account, at) =>
      post(sql`
        update account set archive_consent_at = ${at}
        where organization_id = ${organizationId} and id = ${account.id}`),

    setDepartment: (organizationId, account, departmentId) =>
      post(sql`
        update account set department_id = ${departmentId}
        where organization_id = ${organizationId} and id = ${account.id}`),

    setNames: (organizationId, account, names) =>
      post(sql`
        with changed as (
          update account set first_name = ${names.first_name}, last_name = ${names.last_name},
            username = ${names.username}, name_key = ${nameKey({ ...names, phone_number: account.phone_number })}
          where organization_id = ${organizationId} and id = ${account.id}
        ) ${SearchTexts.set(sql, organizationId, account.id, { ...account, ...names })}`)
  } satisfies Partial<Accounts["Service"]>
})
