/**
 * Samples of how many accounts are in each status. One is kept where it differs from the last, so that most days have
 * few.
 */
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { StatusSample } from "../../../domain/accounts/StatusHistory.ts"
import { statusSamplePeriod, statusSamplesKept } from "../../../domain/Limits.ts"
import { before, now } from "../../../domain/Moments.ts"
import { StoredStatuses } from "../../../ports/accounts/StoredStatuses.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { refresh } from "./AccountStatuses.ts"

/** The samples for the time from a moment on: those after it, and the last one before. */
export const since = (sql: SqlClient.SqlClient, organizationId: string, from: Date) =>
  sql<StatusSample>`
    select at, accounts from status_sample
    where organization_id = ${organizationId} and at >= coalesce((
      select max(at) from status_sample where organization_id = ${organizationId} and at <= ${from}), ${from})
    order by at`

/**
 * Takes the sample of every organization at once, and deletes those that are older than the retention. Of
 * several processes one writes each: the moment is that of the period, not of the process.
 */
export const take = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const moment = yield* now
  const period = Duration.toMillis(statusSamplePeriod)
  const at = new Date(Math.floor(moment.getTime() / period) * period)
  const kept = before(moment, statusSamplesKept)
  yield* Tenant.directoryAlone(sql)(Effect.gen(function*() {
    yield* sql`
      insert into status_sample (organization_id, at, accounts)
      select organization_id, ${at}, accounts
      from (
        select organization_id, jsonb_object_agg(status, accounts) as accounts
        from (select organization_id, status, count(*) as accounts from account group by 1, 2) as counted
        group by 1
      ) as found
      where accounts is distinct from (
        select last.accounts from status_sample last
        where last.organization_id = found.organization_id order by at desc limit 1)
      on conflict do nothing`
    yield* sql`
      delete from status_sample
      where at < ${kept} and exists (
        select 1 from status_sample later
        where later.organization_id = status_sample.organization_id and later.at > status_sample.at
          and later.at <= ${kept})`
  }))
})

export const layer = Layer.effect(
  StoredStatuses,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    refresh: Effect.provideService(refresh, SqlClient.SqlClient, sql),
    sample: Effect.asVoid(Effect.provideService(take, SqlClient.SqlClient, sql))
  }))
)
