import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { Caller } from "../../../domain/people/Access.ts"
import type { WatchedSession } from "../../../domain/protection/Facts.ts"
import { deviceLabel } from "../../../domain/protection/JournalNotices.ts"
import { strangersEnded } from "../../../domain/protection/Takeover.ts"
import type { ReviewedSession, ReviewState, StoredSession } from "../../../domain/sessions/SessionReview.ts"
import { AccountLock } from "../../../ports/accounts/AccountLock.ts"
import { Db } from "../../../ports/Db.ts"
import * as Ports from "../../../ports/index.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { accessSources, canAccess, union } from "../accounts/AccountAccess.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"

const columns = [
  "id",
  "service",
  "current",
  "baseline",
  "approved_at",
  "review_deadline",
  "queued_at",
  "device_model",
  "platform",
  "app_name",
  "app_version",
  "ip",
  "country",
  "last_active_at",
  "created_at",
  "seen_at"
].map((name) => `session.${name}`).join(", ")

/** The place of a session in the list: its deadline, and how long before a fixed time it was first seen. */
interface Place {
  /** Null where it has none: then it comes after all that have one. */
  readonly due: string | null
  readonly seen: string
  readonly id: string
}

type EndedRow = Pick<WatchedSession, "app_name" | "approved_at" | "baseline" | "device_model" | "id" | "service">

/** The states that sessions without a deadline are listed as. */
const states: { readonly [State in ReviewState | "all"]: ReadonlyArray<string> } = {
  all: ["queued", "approved", "unreviewed", "other"],
  pending: ["queued"],
  approved: ["approved"],
  unreviewed: ["unreviewed"]
}

/**
 * True if an admin has approved the session since it was to be signed out: what may have been sent stays written down
 * until a poll shows whether it was.
 */
export const isSpared =
  "(ending_reason is not null and approved_at is not null and (ending_at is null or approved_at >= ending_at))"

/** The sessions in SQL. */
export const layer = Layer.effect(
  Ports.Sessions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const db = yield* Db
    const guard = yield* AccountLock

    const shown = sql.literal(columns)
    const spared = sql.literal(isSpared)
    const joined = sql`session join account
      on account.organization_id = session.organization_id and account.id = session.account_id`

    const ofAccount = ({ accountId, organizationId }: Ports.SessionsAccount) =>
      sql`session.organization_id = ${organizationId} and session.account_id = ${accountId}`

    /**
     * The first of the sessions listed as one of these after the place, the first of each state by every way to them.
     */
    const page = (
      caller: Caller["Service"],
      accountId: AccountId | undefined,
      listed: ReadonlyArray<string>,
      after: Place | undefined,
      count: number
    ) => {
      const isDue = listed[0] === "due"
      const order = sql.literal(isDue ? "listed_due, listed_after, record_id" : "listed_after, record_id")
      const reads = sql.and([
        sql`session.organization_id = ${caller.organizationId}`,
        ...(isDue ? [] : [sql`listed_due = 'infinity'`]),
        ...(after === undefined
          ? []
          : isDue
          ? [sql`(${order}) > (${after.due}::timestamptz, ${after.seen}::interval, ${after.id}::uuid)`]
          : [sql`(${order}) > (${after.seen}::interval, ${after.id}::uuid)`])
      ])
      // As a literal: a plan for every limit would expect to read a tenth of the table.
      const first = sql`order by ${order} limit ${sql.literal(String(count))}`
      const firsts = (holds: Statement.Fragment) =>
        sql`(select listed_due, listed_after, record_id from session where ${reads} and ${holds} ${first})`
      const each = sql.literal(`(values ${listed.map((state) => `('${state}')`).join(", ")}) as wanted (state)`)
      const ofAccount = sql.literal(`listed_as in (${listed.map((state) => `'${state}'`).join(", ")})`)
      const from = (sources: Statement.Fragment, holds: Statement.Fragment) =>
        sql`(select page.* from ${sources} cross join lateral ${firsts(holds)} as page)`
      const branches = () => {
        if (accountId !== undefined) {
          return firsts(sql`account_id = ${accountId} and ${ofAccount} and exists (
            select 1 from account
            where organization_id = ${caller.organizationId} and account.id = ${accountId} and ${
            canAccess(sql, caller)
          })`)
        }
        const sources = accessSources(sql, caller)
        if (sources === null) return from(each, sql`listed_as = state`)
        return union(sql, [
          ...(sources.departments === undefined ? [] : [
            from(
              sql`(${sources.departments}) as source cross join ${each}`,
              sql`session.department_id = source.department_id and listed_as = state`
            )
          ]),
          ...(sources.accounts === undefined ? [] : [
            from(sql`(${sources.accounts}) as source`, sql`session.account_id = source.account_id and ${ofAccount}`)
          ])
        ])
      }
      return sql<ReviewedSession>`
        with page as (
          select * from (${branches()})
            as found ${first}
        )
        select found.* from page cross join lateral (
          select ${shown}, record_id, session.account_id, first_name, last_name, username, phone_number,
            enforcement_active_at
          from ${joined}
          where session.organization_id = ${caller.organizationId} and record_id = page.record_id offset 0
        ) as found
        order by page.listed_due, page.listed_after, page.record_id`
    }

    const stored = (whose: Ports.SessionsAccount, which: Statement.Fragment) =>
      sql<StoredSession>`
        select ${shown}, ending_reason is not null and not ${spared} as ending, ending_intent is not null as sent
        from session where ${ofAccount(whose)} and ${which} order by seen_at desc, record_id`.pipe(Effect.orDie)

    /** Locks the account where a takeover was open; null where none was. */
    const stopTakeover = Effect.fnUntraced(function*({ accountId, organizationId }: Ports.SessionsAccount, now: Date) {
      const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
      const [open] = yield* sql<{ reason: string }>`
        select facets ->> 'takeover' as reason from monitor where ${mine} and facets ->> 'takeover' is not null`
      if (open === undefined) return null
      yield* post(sql`update monitor set facets = facets - 'takeover' where ${mine}`)
      yield* post(sql`
        update account set takeover_stopped_at = ${now}, locked_at = ${now}, lock_reason = ${open.reason}
        where organization_id = ${organizationId} and id = ${accountId}`)
      const held = yield* sql`
        select 1 from account_secret where ${mine} and kind = 'two_fa' and slot = 'held' limit 1`
      return { twoFaManaged: held.length > 0 }
    })

    return Ports.Sessions.of({
      list: Effect.fnUntraced(function*(caller, { accountId, after, limit, review }) {
        // Asked for by itself: with the place not known, a page would be planned to read too much.
        const [place] = after === undefined ? [] : yield* sql<Place>`
          select case when listed_as = 'due' then listed_due::text end as due, listed_after::text as seen,
            record_id as id
          from ${joined}
          where session.organization_id = ${caller.organizationId} and record_id = ${after} and listed_as is not null
            and ${accountId === undefined ? sql`true` : sql`session.account_id = ${accountId}`}
            and ${canAccess(sql, caller)}`
        if (after !== undefined && place === undefined) return null
        const listsDue = (review === undefined || review === "pending") && place?.due !== null
        const due = listsDue ? yield* page(caller, accountId, ["due"], place, limit + 1) : []
        if (due.length > limit) return due
        const from = place?.due === null ? place : undefined
        return [...due, ...(yield* page(caller, accountId, states[review ?? "all"], from, limit + 1 - due.length))]
      }, Effect.orDie),

      signOutsFrom: (organizationId, accounts) =>
        sql<{ id: AccountId; from: Date }>`
          select account.id, greatest(enforcement_active_at, sign_out_retry_at) as from
          from account left join monitor
            on monitor.organization_id = account.organization_id and monitor.account_id = account.id
          where account.organization_id = ${organizationId} and account.id = any(${accounts}::uuid[])
            and greatest(enforcement_active_at, sign_out_retry_at) is not null`.pipe(
          Effect.orDie,
          Effect.map((rows) => new Map(rows.map(({ from, id }) => [id, from])))
        ),

      find: (whose, id) => Effect.map(stored(whose, sql`id = ${id}`), ([row]) => row ?? null),

      others: (whose) => stored(whose, sql`not service and not current`),

      wasRejected: ({ accountId, organizationId }, id, since) =>
        sql`
          select 1 from termination
          where organization_id = ${organizationId} and account_id = ${accountId} and session_id = ${id}
            and reason = 'rejected' and detected_at >= ${since} limit 1`.pipe(Effect.orDie, Sql.exists),

      approve: Effect.fnUntraced(function*(whose, id, by, now) {
        yield* post(sql`
          update session set approved_at = ${now}, approved_by = ${by}, review_deadline = null, queued_at = null,
            withheld_at = null, withheld_reason = null,
            ending_reason = case when ending_intent is not null then coalesce(ending_reason, withheld_reason) end,
            ending_at = case when ending_intent is not null then least(ending_at, ${now}::timestamptz) end,
            ending_by = case when ending_intent is not null then ending_by end
          where ${ofAccount(whose)} and id = ${id}`)
        yield* AccountStatuses.save(sql, whose.organizationId, [whose.accountId], now)
      }, Effect.orDie),

      reject: Effect.fnUntraced(function*(whose, { by, intent, sessions }, now) {
        // Later than an approval, also by another clock: it is the admin's last word.
        yield* post(sql`
          update session set queued_at = coalesce(queued_at, ${now}::timestamptz), ending_reason = 'rejected',
            ending_at = greatest(${now}::timestamptz, approved_at + interval '1 millisecond'), ending_by = ${by},
            ending_intent = ${intent}
          where ${ofAccount(whose)} and id = any(${sessions}::text[])`)
        yield* guard.look(whose.organizationId, whose.accountId, now)
      }, Effect.orDie),

      maySignOut: (whose, id) =>
        db.read(
          whose.organizationId,
          sql`
            select 1 from session join account
              on account.organization_id = session.organization_id and account.id = session.account_id
            where ${ofAccount(whose)} and session.id = ${id} and ending_intent is not null and ending_reason is not null
              and not ${spared} and paused_at is null and offboarded_at is null`.pipe(Effect.orDie)
        ).pipe(Sql.exists),

      applySignOuts: Effect.fnUntraced(function*(whose, { ended, gone, retryAt, waiting }, now) {
        const { accountId, organizationId } = whose
        const rows = yield* sql<EndedRow>`
          delete from session where ${ofAccount(whose)} and id = any(${ended}::text[])
          returning id, app_name, device_model, approved_at, baseline, service`
        const terminations = rows.map((row) => ({ session_id: row.id, device_label: deviceLabel(row) }))
        yield* post(sql`
          insert into termination (organization_id, account_id, session_id, device_label, detected_at, actor, reason)
          select ${organizationId}, ${accountId}::uuid, session_id, device_label, ${now}::timestamptz, 'service',
            'rejected'
          from jsonb_to_recordset(${JSON.stringify(terminations)}::jsonb) as made (session_id text, device_label text)`)
        yield* post(sql`
          update session set queued_at = null, ending_reason = null, ending_at = null, ending_by = null,
            ending_intent = null
          where ${ofAccount(whose)} and id = any(${gone}::text[])`)
        yield* post(sql`
          update session set ending_intent = null where ${ofAccount(whose)} and id = any(${waiting}::text[])`)
        if (retryAt !== null) {
          yield* post(sql`
            update monitor set sign_out_retry_at = ${retryAt}
            where organization_id = ${organizationId} and account_id = ${accountId}`)
        }
        const remembered = strangersEnded(rows, now)
        if (remembered.stranger_at !== undefined) {
          yield* post(sql`
            update monitor set facets = facets || ${JSON.stringify(remembered)}::jsonb
            where organization_id = ${organizationId} and account_id = ${accountId}`)
        }
        const stopped = rows.length === 0 ? null : yield* stopTakeover(whose, now)
        yield* AccountStatuses.save(sql, organizationId, [accountId], now)
        return stopped
      }, Effect.orDie)
    })
  })
)
