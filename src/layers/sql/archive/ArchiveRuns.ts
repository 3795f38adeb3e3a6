import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import { now } from "../../../domain/Moments.ts"
import { ArchiveRuns, type ClaimedRun } from "../../../ports/archive/ArchiveRuns.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Slots from "../protection/Slots.ts"
import { lockArchive } from "./ArchiveLocks.ts"

const missing = `
  insert into archive_run (organization_id, account_id, next_at)
  select organization_id, account_id, $1 from monitor
  where next_at is not null and not exists (
    select from archive_run
    where archive_run.organization_id = monitor.organization_id and archive_run.account_id = monitor.account_id)
  limit 1000
  on conflict do nothing`

const claimed = (slots: ReadonlySet<Slot>) => `
  with ranked as (
    select organization_id, account_id, claim.asked_at, next_at, is_running,
      row_number() over (partition by organization_id order by is_running desc, claim.asked_at nulls last, next_at)
        as place
    from archive_run cross join lateral (
      select coalesce(claimed_until > $1, false) as is_running, coalesce(claimed_asked_at, asked_at) as asked_at) as claim
    where next_at <= $1 and not exists (
      select from organization where organization.id = organization_id and messenger_away_at is not null)
      ${
  Slots.filter(
    slots,
    `and exists (select from monitor where monitor.organization_id = archive_run.organization_id
        and monitor.account_id = archive_run.account_id and monitor.slot`,
    5
  )
}${Slots.values(slots).map(() => ")").join("")}
  ), due as (
    select archive_run.organization_id, archive_run.account_id, ranked.asked_at as was_asked_at
    from archive_run join ranked using (organization_id, account_id)
    where not is_running and (claimed_until is null or claimed_until <= $1)
    order by place > $3, ranked.asked_at nulls last, ranked.next_at
    limit $2 for no key update of archive_run skip locked
  )
  update archive_run set claimed_until = $4, fence = fence + 1, claimed_asked_at = due.was_asked_at, asked_at = null,
    again = false
  from due where archive_run.organization_id = due.organization_id and archive_run.account_id = due.account_id
  returning archive_run.organization_id as "organizationId", archive_run.account_id::text as "accountId",
    fence::int as fence, failures, was_asked_at as "askedAt"`

const begun = (slots: ReadonlySet<Slot>) => `
  select organization_id as "organizationId", account_id::text as "accountId"
  from archive_state join monitor using (organization_id, account_id)
  where begun and monitor.next_at is not null ${Slots.filter(slots, "and monitor.slot", 2)}
  limit $1`

/** The runs in SQL. */
export const layer = Layer.effect(
  ArchiveRuns,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    return ArchiveRuns.of({
      addMissing: Effect.flatMap(now, (now) => Effect.asVoid(Tenant.ask(sql, missing, [now]))),

      claim: Effect.fnUntraced(function*(slots, limit, ofOrganization, until) {
        const values = [yield* now, limit, ofOrganization, until, ...Slots.values(slots)]
        return yield* Tenant.ask<ClaimedRun>(sql, claimed(slots), values)
      }),

      begun: (slots, limit) => Tenant.ask<ArchivedAccount>(sql, begun(slots), [limit, ...Slots.values(slots)]),

      renew: ({ accountId, fence, organizationId }, until) =>
        sql`
          update archive_run set claimed_until = ${until}
          where organization_id = ${organizationId} and account_id = ${accountId} and fence = ${fence}
          returning fence`.pipe(Effect.orDie, Effect.map((rows) => rows.length > 0)),

      finish: ({ accountId, fence, organizationId }, { askedAt, at, failures }) =>
        sql`
          update archive_run set claimed_until = null, failures = ${failures}, claimed_asked_at = null,
            asked_at = coalesce(asked_at, ${askedAt}),
            next_at = case when asked_at is null and not again then ${at} else next_at end
          where organization_id = ${organizationId} and account_id = ${accountId} and fence = ${fence}
          returning fence`.pipe(Effect.orDie, Effect.map((rows) => rows.length > 0)),

      hasten: ({ accountId, organizationId }, at) =>
        post(sql`
          update archive_run set next_at = least(next_at, ${at}), again = true
          where organization_id = ${organizationId} and account_id = ${accountId}`),

      // The account's archive is locked before its run, as in every step.
      request: Effect.fnUntraced(function*(account, now) {
        const { accountId, organizationId } = account
        yield* post(lockArchive(sql, account))
        const rows = yield* sql`
          with asked as (
            insert into archive_run (organization_id, account_id, next_at, asked_at)
            values (${organizationId}, ${accountId}, ${now}, ${now})
            on conflict (organization_id, account_id) do update set next_at = least(archive_run.next_at, ${now}),
              asked_at = ${now}
            where archive_run.asked_at is null
            returning account_id
          )
          update archive_state set archive_queued_at = coalesce(archive_queued_at, ${now})
          from asked where organization_id = ${organizationId} and archive_state.account_id = asked.account_id
          returning 1`
        return rows.length > 0
      }, Effect.orDie)
    })
  })
)
