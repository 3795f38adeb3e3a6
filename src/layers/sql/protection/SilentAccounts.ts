import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { failuresUntilUnknown } from "../../../domain/Limits.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import type { MonitorFacts } from "../../../domain/protection/Facts.ts"
import type { Due } from "../../../ports/Due.ts"
import { type PolledAccount, SilentAccounts } from "../../../ports/protection/SilentAccounts.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import * as Polls from "./Polls.ts"

/** The monitor's row after polls that were not made. */
const error = "silent"

export const layer = Layer.effect(
  SilentAccounts,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    due: (now, silentSince, limit) =>
      Tenant.directory(sql)(sql<Due>`
        select organization_id as "organizationId", account_id as id from monitor
        where next_at <= ${now} and greatest(last_ok_at, started_at) <= ${silentSince}
          and (busy_until is null or busy_until <= ${now})
          and failures < ${failuresUntilUnknown} and last_poll_error is distinct from ${error}
        order by organization_id, account_id limit ${limit}`),

    hold: Effect.fnUntraced(function*(organizationId, ids) {
      yield* sql`select from organization where id = ${organizationId} for no key update`
      const accounts = yield* sql<PolledAccount>`
        select id, first_name, last_name, username, phone_number, monitoring_state, offboarded_at, paused_at, stopped_at
        from account where organization_id = ${organizationId} and id = any(${ids}::uuid[])
        order by id for no key update skip locked`
      const monitors = yield* sql<Pick<MonitorFacts, "last_ok_at" | "started_at"> & { readonly account_id: string }>`
        select account_id, last_ok_at, started_at from monitor
        where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])
        order by account_id for no key update skip locked`
      return { accounts, monitors }
    }, Effect.orDie),

    makeUnknown: Effect.fnUntraced(function*(organizationId, { away, ids, now, together }) {
      const these = sql`organization_id = ${organizationId}`
      yield* sql`update account set monitoring_state = 'unknown' where ${these} and id = any(${ids}::uuid[])`
      if (together) {
        yield* sql`
          update organization set silent_accounts = coalesce(silent_accounts, 0) + ${ids.length}
          where id = ${organizationId}`
      }
      const facets = { ...(away ? { away } : {}), ...(together ? { silent: true } : {}) }
      yield* sql`
        update monitor set last_poll_error = ${error}, facets = facets || ${JSON.stringify(facets)}::jsonb
        where ${these} and account_id = any(${ids}::uuid[])`
      yield* AccountStatuses.save(sql, organizationId, ids, now)
    }, Effect.orDie),

    reported: Effect.map(
      Tenant.directory(sql)(sql<{ id: OrganizationId }>`
        select id from organization where silent_accounts is not null order by id`),
      (rows) => rows.map(({ id }) => id)
    ),

    restored: Effect.fnUntraced(function*(organizationId) {
      const reported = yield* Sql.one(sql<{ accounts: number | null }>`
        select silent_accounts as accounts from organization where id = ${organizationId} for no key update`)
      const accounts = reported?.accounts ?? null
      if (accounts === null) return null
      const left = yield* Sql.exists(sql`
        select from account join monitor
          on monitor.organization_id = account.organization_id and monitor.account_id = account.id
        where account.organization_id = ${organizationId} and monitoring_state = 'unknown' and facets ? 'silent'
        limit 1`)
      if (left) return null
      yield* sql`update organization set silent_accounts = null where id = ${organizationId}`
      return accounts
    }, Effect.orDie),

    waitingSince: Effect.provideService(Polls.waitingSince, SqlClient.SqlClient, sql)
  }))
)
