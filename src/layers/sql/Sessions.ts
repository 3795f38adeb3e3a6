import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { deviceLabel } from "../../domain/protection/Told.ts"
import type { ReviewedSession, ReviewState, StoredSession } from "../../domain/SessionReview.ts"
import { Db } from "../../ports/Db.ts"
import { Guard } from "../../ports/Guard.ts"
import * as Ports from "../../ports/index.ts"
import * as AccountStatuses from "./AccountStatuses.ts"
import { reachable } from "./Reach.ts"
import * as Tenant from "./Tenant.ts"

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

/** Where a session stands in the list: by its deadline, and after all that have one by when it was first seen. */
interface Place {
  readonly due: Date | null
  readonly seen_at: Date
  readonly record_id: string
}

/** The sessions in SQL. */
export const layer = Layer.effect(
  Ports.Sessions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db
    const guard = yield* Guard

    const shown = sql.literal(columns)
    // As the index on the deadlines has it.
    const isDue = sql`review_deadline is not null and approved_at is null and not service`

    const ofAccount = ({ accountId, organizationId }: Ports.Whose) =>
      sql`session.organization_id = ${organizationId} and session.account_id = ${accountId}`

    /** Holds for sessions without a deadline. */
    const inState = (review: ReviewState | undefined): Statement.Fragment => {
      switch (review) {
        case undefined:
          return sql`true`
        case "pending":
          return sql`queued_at is not null`
        case "approved":
          return sql`approved_at is not null and queued_at is null`
        case "unreviewed":
          return sql`baseline and approved_at is null and queued_at is null`
      }
    }

    const stored = (whose: Ports.Whose, which: Statement.Fragment) =>
      sql<StoredSession>`
        select ${shown}, ending_reason is not null as ending, ending_intent is not null as sent
        from session where ${ofAccount(whose)} and ${which} order by seen_at desc, record_id`.pipe(Effect.orDie)

    return Ports.Sessions.of({
      list: Effect.fnUntraced(function*(caller, { accountId, after, limit, review }) {
        const { organizationId } = caller
        const mine = sql.and([
          sql`session.organization_id = ${organizationId} and not service and not current`,
          ...(accountId === undefined ? [] : [sql`session.account_id = ${accountId}`]),
          reachable(sql, caller)
        ])
        const joined = sql`session join account
          on account.organization_id = session.organization_id and account.id = session.account_id`
        const [cursor] = after === undefined ? [] : yield* sql<Place>`
          select case when ${isDue} then review_deadline end as due, seen_at, record_id from ${joined}
          where ${mine} and record_id = ${after}`
        if (after !== undefined && cursor === undefined) return null

        const page = (holds: Statement.Fragment, order: Statement.Fragment, count: number) =>
          sql<ReviewedSession>`
            select ${shown}, record_id, session.account_id, first_name, last_name, username, phone_number,
              enforcement_active_at
            from ${joined} where ${mine} and ${holds} order by ${order} limit ${sql.literal(String(count))}`
        const later = (place: Place) =>
          sql`(seen_at < ${place.seen_at} or seen_at = ${place.seen_at} and record_id > ${place.record_id}::uuid)`
        const due = cursor !== undefined && cursor.due === null || review !== undefined && review !== "pending"
          ? []
          : yield* page(
            sql.and([
              isDue,
              ...(cursor === undefined || cursor.due === null
                ? []
                : [
                  sql`review_deadline >= ${cursor.due}`,
                  sql`(review_deadline > ${cursor.due} or ${later(cursor)})`
                ])
            ]),
            sql`review_deadline, seen_at desc, record_id`,
            limit + 1
          )
        if (due.length > limit) return due
        const others = yield* page(
          sql.and([
            sql`not (${isDue})`,
            inState(review),
            ...(cursor === undefined || cursor.due !== null ? [] : [later(cursor)])
          ]),
          sql`seen_at desc, record_id`,
          limit + 1 - due.length
        )
        return [...due, ...others]
      }, Effect.orDie),

      find: (whose, id) => Effect.map(stored(whose, sql`id = ${id}`), ([row]) => row ?? null),

      others: (whose) => stored(whose, sql`not service and not current`),

      wasRejected: ({ accountId, organizationId }, id, since) =>
        sql`
          select 1 from termination
          where organization_id = ${organizationId} and account_id = ${accountId} and session_id = ${id}
            and reason = 'rejected' and detected_at >= ${since} limit 1`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length > 0)
        ),

      approve: Effect.fnUntraced(function*(whose, id, by, now) {
        yield* Tenant.post(
          sql,
          sql`
          update session set approved_at = ${now}, approved_by = ${by}, review_deadline = null, queued_at = null,
            withheld_at = null, withheld_reason = null, ending_reason = null, ending_at = null, ending_by = null,
            ending_intent = null
          where ${ofAccount(whose)} and id = ${id}`
        )
        yield* AccountStatuses.save(sql, whose.organizationId, [whose.accountId], now)
      }, Effect.orDie),

      reject: Effect.fnUntraced(function*(whose, { by, intent, sessions }, now) {
        // Later than an approval, also by another clock: it is the admin's last word.
        yield* Tenant.post(
          sql,
          sql`
          update session set queued_at = coalesce(queued_at, ${now}::timestamptz), ending_reason = 'rejected',
            ending_at = greatest(${now}::timestamptz, approved_at + interval '1 millisecond'), ending_by = ${by},
            ending_intent = ${intent}
          where ${ofAccount(whose)} and id = any(${sessions}::text[])`
        )
        yield* guard.look(whose.organizationId, whose.accountId, now)
      }, Effect.orDie),

      maySignOut: (whose, id) =>
        db.read(
          whose.organizationId,
          sql`
            select 1 from session join account
              on account.organization_id = session.organization_id and account.id = session.account_id
            where ${ofAccount(whose)} and session.id = ${id} and ending_intent is not null and ending_reason is not null
              and paused_at is null and offboarded_at is null`.pipe(Effect.orDie)
        ).pipe(Effect.map((rows) => rows.length > 0)),

      settle: Effect.fnUntraced(function*(whose, { ended, gone, retryAt, waiting }, now) {
        const { accountId, organizationId } = whose
        const rows = yield* sql<{ id: string; app_name: string | null; device_model: string | null }>`
          delete from session where ${ofAccount(whose)} and id = any(${ended}::text[])
          returning id, app_name, device_model`
        const terminations = rows.map((row) => ({ session_id: row.id, device_label: deviceLabel(row) }))
        yield* sql`
          insert into termination (organization_id, account_id, session_id, device_label, detected_at, actor, reason)
          select ${organizationId}, ${accountId}::uuid, session_id, device_label, ${now}::timestamptz, 'service',
            'rejected'
          from jsonb_to_recordset(${JSON.stringify(terminations)}::jsonb) as made (session_id text, device_label text)`
        yield* sql`
          update session set queued_at = null, ending_reason = null, ending_at = null, ending_by = null,
            ending_intent = null
          where ${ofAccount(whose)} and id = any(${gone}::text[])`
        yield* sql`
          update session set ending_intent = null where ${ofAccount(whose)} and id = any(${waiting}::text[])`
        if (retryAt !== null) {
          yield* sql`
            update monitor set sign_out_retry_at = ${retryAt}
            where organization_id = ${organizationId} and account_id = ${accountId}`
        }
        yield* AccountStatuses.save(sql, organizationId, [accountId], now)
      }, Effect.orDie)
    })
  })
)
