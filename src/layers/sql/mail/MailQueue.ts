/** Mails that wait, in SQL: a row is claimed, sent, and then marked as sent. */
import { Clock, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { type Bundle, MailQueue, type QueuedMail } from "../../../ports/mail/MailQueue.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Gauge from "../../Gauge.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { sealedFor } from "./Outbox.ts"

/** The interval at which what waits is counted. */
const countEvery = Duration.toMillis(Duration.seconds(15))

const columns = "organization_id, id, recipient, joins, letter_sealed, created_at, attempts"

const keyOf = ({ organization_id, recipient }: QueuedMail) => JSON.stringify([organization_id, recipient])

const rowOf = ({ id, organization_id, recipient }: Pick<QueuedMail, "id" | "organization_id" | "recipient">) =>
  JSON.stringify([organization_id, id, recipient])

/**
 * Drops what goes to nobody of what was taken: to an admin who was disabled or removed since it was written, or to an
 * admin of an organization that was closed.
 */
const drop = (sql: SqlClient.SqlClient, taken: ReadonlyArray<QueuedMail>, toAnyone: string) => {
  const admin = (which: Statement.Fragment) =>
    sql`exists (
      select 1 from admin
      where admin.organization_id = mail.organization_id
        and lower(email collate "C") = lower(mail.recipient collate "C") and ${which})`
  return sql<Pick<QueuedMail, "id" | "organization_id" | "recipient">>`
    delete from mail
    using unnest(${taken.map((row) => row.organization_id)}::text[], ${taken.map((row) => row.id)}::uuid[],
      ${taken.map((row) => row.recipient)}::text[]) as taken (organization_id, id, recipient)
    where mail.organization_id = taken.organization_id and mail.id = taken.id and mail.recipient = taken.recipient
      and kind <> ${toAnyone} and (
        exists (select 1 from organization where organization.id = mail.organization_id and closed_at is not null)
        or not ${admin(sql`removed_at is null and disabled_at is null`)} and (
          ${admin(sql`removed_at is null and disabled_at is not null`)} or ${admin(sql`removed_at is not null`)}))
    returning mail.organization_id, mail.id, mail.recipient`
}

export const layer = Layer.effect(
  MailQueue,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const clock = yield* Clock.Clock
    const columnList = sql.literal(columns)
    let [waiting, oldest, countedAt] = [0, 0, -countEvery]
    yield* Gauge.show("console_mail_waiting", "Mails that are to be sent", () => waiting)
    yield* Gauge.show(
      "console_mail_oldest_seconds",
      "Age of the oldest mail that is to be sent",
      () => waiting === 0 ? 0 : Math.max(0, clock.currentTimeMillisUnsafe() - oldest) / 1000
    )

    return {
      // A plain question, because it is asked every second.
      isDue: (now) =>
        Sql.exists(Tenant.ask<{ readonly due: number }>(
          sql,
          `select 1 as due from mail
          where next_at <= $1 and next_at is not null and (claimed_until is null or claimed_until <= $1) limit 1`,
          [now]
        )),

      claim: ({ joined, limit, now, toAnyone, until }) => {
        const free = sql`next_at is not null and (claimed_until is null or claimed_until <= ${now})`
        return Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
          const due = yield* sql<QueuedMail>`
            select ${columnList} from mail where next_at <= ${now} and ${free}
            order by next_at limit ${limit} for update skip locked`
          if (due.length === 0) return null
          const token = yield* random.uuidV7()
          const dropped = new Set((yield* drop(sql, due, toAnyone)).map(rowOf))
          const bundles = new Map<string, Bundle>()
          for (const row of due.filter((one) => !dropped.has(rowOf(one)))) {
            if (row.joins && !bundles.has(keyOf(row))) {
              const [first, ...more] = yield* sql<QueuedMail>`
                select ${columnList} from mail
                where organization_id = ${row.organization_id} and recipient = ${row.recipient} and joins and ${free}
                order by created_at limit ${joined.atMost} for update skip locked`
              if (first !== undefined && more.length + 1 >= joined.from) bundles.set(keyOf(row), [first, ...more])
            }
            if (!row.joins || !bundles.has(keyOf(row))) bundles.set(rowOf(row), [row])
          }
          const claimed = [...bundles.values()]
          for (const { id, organization_id, recipient } of claimed.flat()) {
            yield* sql`
              update mail set claimed_by = ${token}, claimed_until = ${until}
              where organization_id = ${organization_id} and id = ${id} and recipient = ${recipient}`
          }
          return { token, bundles: claimed }
        })))
      },

      letter: ({ id, letter_sealed, organization_id }) => vault.open(letter_sealed, sealedFor(organization_id, id)),

      finish: Effect.fnUntraced(
        function*(token, mails, error, now) {
          for (const { mail: { attempts, id, organization_id, recipient }, next } of mails) {
            yield* sql`
              update mail set ${
              sql.update({
                attempts: attempts + 1,
                claimed_by: null,
                claimed_until: null,
                next_at: next,
                sent_at: error === null ? now : null,
                failed_at: error !== null && next === null ? now : null,
                error
              })
            }, letter_sealed = case when ${next}::timestamptz is null then null else letter_sealed end
              where organization_id = ${organization_id} and id = ${id} and recipient = ${recipient}
                and claimed_by = ${token}`
          }
        },
        (finished) => Tenant.directory(sql)(sql.withTransaction(finished))
      ),

      count: Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (now - countedAt < countEvery) return Effect.void
        countedAt = now
        return Effect.map(
          Tenant.ask<{ readonly waiting: number; readonly oldest: Date | null }>(
            sql,
            "select count(*)::integer as waiting, min(created_at) as oldest from mail where next_at is not null",
            []
          ),
          ([found]) => {
            waiting = found?.waiting ?? 0
            oldest = found?.oldest?.getTime() ?? 0
          }
        )
      }),

      forget: (until) =>
        Effect.asVoid(Tenant.directory(sql)(sql`delete from mail where created_at <= ${until} and next_at is null`))
    }
  })
)
