import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { awayReturn } from "../../../domain/Limits.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { OutageRecords } from "../../../ports/protection/OutageRecords.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** Before every account. */
const nobody = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  OutageRecords,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    organizations: (which) =>
      Effect.map(
        Tenant.ask<{ id: OrganizationId }>(
          sql,
          which === "notified"
            ? "select id from organization where messenger_away_at is not null order by id"
            : "select distinct organization_id as id from monitor where next_at is not null order by id",
          []
        ),
        (rows) => rows.map(({ id }) => id)
      ),

    isNotified: (organizationId) =>
      Effect.orDie(Sql.exists(sql`
        select from organization where id = ${organizationId} and messenger_away_at is not null`)),

    begin: Effect.fnUntraced(function*(organizationId, now) {
      const first = yield* Sql.exists(sql`
        update organization set messenger_away_at = ${now}
        where id = ${organizationId} and messenger_away_at is null returning id`)
      if (!first) return null
      const watched = yield* Sql.one(sql<{ accounts: number }>`
        select count(*)::int as accounts from monitor
        where organization_id = ${organizationId} and next_at is not null`)
      return watched?.accounts ?? 0
    }, Effect.orDie),

    end: (organizationId) =>
      Effect.orDie(Sql.exists(sql`
        update organization set messenger_away_at = null
        where id = ${organizationId} and messenger_away_at is not null returning id`)),

    makeDue: Effect.fnUntraced(function*(organizationId, after, limit, now) {
      // Overdue accounts have waited behind others; the messenger was not asked about them.
      const unseen = yield* sql<{ account_id: string }>`
        with unseen as (
          select account_id from monitor
          where organization_id = ${organizationId} and account_id > ${after ?? nobody} and next_at is not null
            and (next_at <= ${now} or failures > 0 and last_poll_error in ('unavailable', 'silent'))
          order by account_id limit ${limit} for no key update)
        update monitor set failures = least(failures, 1), started_at = ${now}, next_at = least(next_at,
          ${now}::timestamptz + slot * ${Duration.toMillis(awayReturn)} / 1024 * interval '1 millisecond')
        from unseen where monitor.organization_id = ${organizationId} and monitor.account_id = unseen.account_id
        returning monitor.account_id`
      return unseen.length < limit ? null : unseen.map(({ account_id }) => account_id).toSorted().at(-1) ?? null
    }, Effect.orDie)
  }))
)
