import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { StoredCleanup } from "../../../domain/archive/ArchiveCleanup.ts"
import { daysOf, firstKeptDay, type KeptDays, type StoredRetention } from "../../../domain/archive/Retention.ts"
import type { Tier } from "../../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import {
  ArchiveRetentions,
  type RetainedAccount,
  type RetentionRun,
  type WaitingCleanups
} from "../../../ports/archive/ArchiveRetentions.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isAfter } from "./AccountCursor.ts"
import { isHeld } from "./HeldAccounts.ts"

interface WaitingRow {
  readonly accounts: number
  readonly messages: string
  readonly files: string
  readonly notBefore: Date | null
}

/** The retentions in SQL. */
export const layer = Layer.effect(
  ArchiveRetentions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const found = (organizationId: OrganizationId, locking: Statement.Fragment) =>
      sql<StoredRetention>`
        select days, tier_days as "tierDays", set_by::text as "setBy", set_at as "setAt", begins_at as "beginsAt" from archive_retention
        where organization_id = ${organizationId} ${locking}`.pipe(Effect.orDie, Effect.map(([row]) => row ?? null))

    const isWaiting = sql`created_by is null and state = 'queued'`

    const isDue = (day: string) =>
      sql`(reached is not null or (applied_on is null or applied_on < ${day}::date) and not exists (
        select 1 from archive_cleanup
        where archive_cleanup.organization_id = archive_retention.organization_id and created_by is null
          and state in ('queued', 'running')))`

    /** The first day that is kept of an account; null keeps everything. */
    const firstDay = (kept: KeptDays, at: Date) => {
      const of = (tier: Tier | null) => {
        const days = daysOf(kept, tier)
        return sql`${days === null ? null : firstKeptDay(days, at)}::date`
      }
      return sql`(case account.licence_tier
        when 'protect' then ${of("protect")}
        when 'archive' then ${of("archive")}
        when 'governance' then ${of("governance")}
        else ${of(null)} end)`
    }

    return ArchiveRetentions.of({
      find: (organizationId) => found(organizationId, sql``),
      lock: (organizationId) => found(organizationId, sql`for update`),

      set: (organizationId, retention) =>
        retention === null
          ? post(sql`delete from archive_retention where organization_id = ${organizationId}`)
          : post(sql`
            insert into archive_retention (organization_id, days, tier_days, set_by, set_at, begins_at)
            values (${organizationId}, ${retention.days}, ${
            JSON.stringify(retention.tierDays)
          }::jsonb, ${retention.setBy}::uuid, ${retention.setAt},
              ${retention.beginsAt})
            on conflict (organization_id) do update set days = excluded.days, tier_days = excluded.tier_days, set_by = excluded.set_by,
              set_at = excluded.set_at, begins_at = excluded.begins_at, reached = null, applied_on = null`),

      lockWaiting: (organizationId) =>
        Effect.orDie(sql<Pick<StoredCleanup, "accountIds" | "id">>`
          select id::text as id, account_ids::text[] as "accountIds" from archive_cleanup
          where organization_id = ${organizationId} and ${isWaiting} order by id for update`),

      cancelWaiting: (organizationId, now) =>
        post(sql`
          update archive_cleanup set state = 'cancelled', finished_at = ${now}
          where organization_id = ${organizationId} and ${isWaiting}`),

      due: (day) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ id: OrganizationId }>`
            select organization_id as id from archive_retention where ${isDue(day)} order by organization_id`),
          (rows) => rows.map(({ id }) => id)
        ),

      take: (organizationId, day) =>
        sql<RetentionRun>`
          select days, tier_days as "tierDays", coalesce(reached::text, '') as reached from archive_retention
          where organization_id = ${organizationId} and ${isDue(day)} for update`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? null)
        ),

      accounts: (organizationId, kept, at, after, limit) =>
        sql<RetainedAccount>`
          select account.id, licence_tier as tier from account
          cross join lateral (select ${firstDay(kept, at)} as before) as kept
          where account.organization_id = ${organizationId} and ${isAfter(sql, after)}
            and (exists (
                select 1 from archive_page
                where archive_page.organization_id = ${organizationId} and archive_page.account_id = account.id
                  and day < kept.before and kind in ('messages', 'changes'))
              or exists (
                select 1 from archive_tail
                where archive_tail.organization_id = ${organizationId} and archive_tail.account_id = account.id
                  and day < kept.before))
            and not ${isHeld(sql, { organizationId, accountId: sql`account.id`, before: sql`kept.before` })}
          order by account.id limit ${sql.literal(String(limit))}`.pipe(Effect.orDie),

      notKept: Effect.fnUntraced(function*(organizationId, accountIds, before, at) {
        const kept = yield* found(organizationId, sql``)
        if (kept === null) return []
        const rows = yield* sql<{ id: AccountId }>`
          select id from account where organization_id = ${organizationId} and id = any(${accountIds}::uuid[])
            and ${before}::date <= ${firstDay(kept, at)} order by id`
        return rows.map(({ id }) => id)
      }, Effect.orDie),

      reach: (organizationId, accountId) =>
        post(sql`
          update archive_retention set reached = ${accountId}::uuid where organization_id = ${organizationId}`),

      end: Effect.fnUntraced(function*(organizationId, day) {
        yield* post(sql`
          update archive_retention set reached = null, applied_on = ${day}::date
          where organization_id = ${organizationId}`)
        const [row] = yield* sql<WaitingRow>`
          select coalesce(sum(cardinality(account_ids)), 0)::integer as accounts,
            coalesce(sum(messages), 0)::text as messages, coalesce(sum(files), 0)::text as files,
            min(not_before) as "notBefore"
          from archive_cleanup where organization_id = ${organizationId} and ${isWaiting}`
        if (row === undefined || row.notBefore === null) return null
        const { accounts, notBefore } = row
        return {
          accounts,
          notBefore,
          messages: Number(row.messages),
          files: Number(row.files)
        } satisfies WaitingCleanups
      }, Effect.orDie)
    })
  })
)
