/**
 * Wrong console passwords: kept at once, for addresses that are no admin's by the same statement, so that neither the
 * answer nor its time tells which are; the background journals the first, a burst, and from then on one event an hour.
 */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { external } from "../../../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { freePasswordFailures, passwordFailuresJournaled } from "../../../domain/Limits.ts"
import type { OrganizationId, Via } from "../../../domain/people/Access.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import type { AdminRef, Attempt } from "../../../ports/signin/ConsolePasswords.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface Row {
  readonly failures: number
  readonly since: Date
  readonly addresses: number
  readonly ip: string | null
  readonly request_id: string | null
  readonly via: Via
  readonly journaled_at: Date | null
  readonly burst: boolean
}

const columns = "failures, since, cardinality(addresses) as addresses, ip, request_id, via, journaled_at, burst"

/** The number of addresses that are counted one by one; past it the count is at least this. */
const addressesCounted = 100

const write = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { adminId, organizationId }: AdminRef,
  row: Row,
  now: Date,
  burst: boolean
) {
  yield* (yield* Journal).append(
    organizationId,
    journalEntry(external, { ...row, requestId: row.request_id }, journalAction("console_password.failed"), {
      targetId: adminId,
      outcome: "refused",
      details: { failures: row.failures, addresses: row.addresses, since: row.since.toISOString() }
    })
  )
  yield* Tenant.post(sql)(sql`
    update password_failure set failures = 0, addresses = '{}', journaled_at = ${now}, burst = ${burst}
    where organization_id = ${organizationId} and admin_id = ${adminId}`)
})

const earliest = (now: Date) => new Date(now.getTime() - Duration.toMillis(passwordFailuresJournaled))

/** The owner of the wrong password: the admin, null for an address that is no admin's, and the key of the row. */
export interface Failed {
  readonly key: string
  readonly admin: AdminRef | null
}

/** Keeps that a password was wrong. */
export const record = (sql: SqlClient.SqlClient, { admin, key }: Failed, attempt: Attempt) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Tenant.directory(sql)(sql`
      insert into password_failure as kept
        (key, organization_id, admin_id, failures, since, addresses, ip, request_id, via)
      values (${key}, ${admin?.organizationId ?? null}, ${admin?.adminId ?? null}, 1, ${new Date(now)},
        ${attempt.ip === null ? [] : [attempt.ip]}::text[], ${attempt.ip}, ${attempt.requestId}, ${attempt.via})
      on conflict (key) do update set
        organization_id = excluded.organization_id, admin_id = excluded.admin_id, failures = kept.failures + 1,
        since = case when kept.failures = 0 then excluded.since else kept.since end,
        addresses = case
          when cardinality(kept.addresses) >= ${addressesCounted} or kept.addresses @> excluded.addresses
            then kept.addresses
          else kept.addresses || excluded.addresses end,
        ip = excluded.ip, request_id = excluded.request_id, via = excluded.via`))

/** Journals what has not been journaled of the admin's; within the organization's transaction. */
export const flush = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, admin: AdminRef, now: Date) {
  const [row] = yield* Effect.orDie(sql<Row>`
    select ${sql.literal(columns)} from password_failure
    where organization_id = ${admin.organizationId} and admin_id = ${admin.adminId} and failures > 0 for update`)
  if (row === undefined) return
  const heard = row.journaled_at !== null && row.journaled_at > earliest(now)
  yield* write(sql, admin, row, now, row.failures >= freePasswordFailures || heard && row.burst)
})

const adminsPerSweep = 1000

/**
 * Journals the first failure of an hour, a burst of them, and others once an hour; forgets admins without failures
 * since, and addresses that are no admin's.
 */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const due = yield* Tenant.directory(sql)(sql<AdminRef & { readonly organizationId: OrganizationId }>`
    select organization_id as "organizationId", admin_id as "adminId" from password_failure
    where admin_id is not null and failures > 0
      and (journaled_at is null or journaled_at <= ${
    earliest(now)
  } or not burst and failures >= ${freePasswordFailures})
    limit ${adminsPerSweep}`)
  for (const admin of due) yield* Tenant.transaction(sql, admin.organizationId)(flush(sql, admin, now))
  yield* Tenant.directory(sql)(sql`
    delete from password_failure
    where failures = 0 and journaled_at <= ${earliest(now)} or admin_id is null and since <= ${earliest(now)}`)
})
