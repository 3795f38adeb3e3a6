import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type LicenceState, LicenceStops, type LicensedAccount } from "../../../ports/organization/LicenceStops.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import { lockMonitors } from "../protection/MonitorLocks.ts"
import { licenceColumns } from "./LicenceEnds.ts"

/** Accounts that are to be stopped, also those that were resumed since the last stop. */
const running = "offboarded_at is null and (licence_stopped_at is null or stopped_at is null)"

/** Accounts that wait for the licence; those that something else had stopped stay so. */
const waiting = "licence_stopped_at is not null"

/** Accounts that the licence, and nothing else, has stopped. */
const stoppedByIt = "stop_reason in ('licence', 'organization_suspended')"

export const layer = Layer.effect(
  LicenceStops,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    // In order: without one a plan may look for the first of an organization's accounts through those of all others.
    const any = (accounts: string) =>
      sql`
      (select account.id from account where organization_id = organization.id and ${sql.literal(accounts)}
        order by account.id limit 1) is not null`
    const following = (live: boolean) => sql.literal(live ? waiting : running)
    const these = (organizationId: string, ids: ReadonlyArray<string>) =>
      sql`organization_id = ${organizationId} and id = any(${ids}::uuid[])`
    return {
      organizations: Tenant.directoryAlone(sql)(sql<LicenceState>`
        select id, ${sql.literal(licenceColumns)}, ${any(running)} as running, ${any(waiting)} as stopped
        from organization order by id`),

      count: (organizationId, live) =>
        Effect.map(
          Effect.orDie(sql<{ count: number }>`
            select count(*)::int as count from account where organization_id = ${organizationId} and ${following(live)}
              and ${sql.literal(live ? stoppedByIt : "stopped_at is null")}`),
          ([row]) => row?.count ?? 0
        ),

      holdNext: (organizationId, live, limit) =>
        sql<LicensedAccount>`
          select id, first_name, last_name, username, phone_number, stopped_at, licence_stopped_at
          from account where organization_id = ${organizationId} and ${following(live)} order by id limit ${limit}
          for no key update`.pipe(
          Effect.tap((accounts) =>
            accounts.length === 0
              ? Effect.void
              : lockMonitors(sql, organizationId, accounts.map(({ id }) => id))
          ),
          Effect.orDie
        ),

      stop: Effect.fnUntraced(function*(organizationId, ids, reason, now) {
        yield* post(sql`
          update account set stop_reason = case when stopped_at is null then ${reason} else stop_reason end,
            stopped_at = coalesce(stopped_at, ${now}::timestamptz),
            licence_stopped_at = coalesce(licence_stopped_at, ${now}::timestamptz), monitoring_state = 'stopped'
          where ${these(organizationId, ids)}`)
        yield* post(sql`
          update monitor set epoch = epoch + 1, next_at = null, urgent = false
          where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])`)
      }),

      restore: Effect.fnUntraced(function*(organizationId, ids, now) {
        const restored = yield* sql<{ id: string; paused: boolean }>`
          update account set stopped_at = null, stop_reason = null,
            monitoring_state = case when paused_at is null then 'active' else 'stopped' end
          where ${these(organizationId, ids)} and ${sql.literal(stoppedByIt)}
          returning id, paused_at is not null as paused`
        yield* post(sql`update account set licence_stopped_at = null where ${these(organizationId, ids)}`)
        const watched = restored.filter(({ paused }) => !paused).map(({ id }) => id)
        yield* post(sql`
          update monitor set epoch = epoch + 1, next_at = ${now}, started_at = ${now}, failures = 0,
            first_failure_at = null, last_poll_error = null
          where organization_id = ${organizationId} and account_id = any(${watched}::uuid[])`)
        return new Set(restored.map(({ id }) => id))
      }, Effect.orDie),

      saveStatuses: (organizationId, ids, now) => Effect.orDie(AccountStatuses.save(sql, organizationId, ids, now))
    }
  })
)
