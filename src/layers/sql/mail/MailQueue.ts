/** Sends the mails that are due, each at least once: a row is claimed, sent, and then marked as sent. */
import { Cause, Clock, Duration, Effect, Exit, Metric, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { mailBatches } from "../../../domain/Limits.ts"
import { joinedFrom, mailKept, nextAttempt } from "../../../domain/mail/Delivery.ts"
import { supportRequested } from "../../../domain/mail/index.ts"
import { joined, Letter } from "../../../domain/mail/Letter.ts"
import { MailSender, NotSent } from "../../../ports/mail/MailSender.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Gauge from "../../Gauge.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { sealedFor } from "./Outbox.ts"

/** The number of mails that are claimed, and sent, at a time. */
const batch = 10

/** The number of waiting notifications that one mail joins. */
const joinedAtMost = 100

/** The time that a process keeps claimed mails for itself, even if the process has ended. */
const claimTime = Duration.seconds(60)

/** The interval at which what waits is counted. */
const countEvery = Duration.toMillis(Duration.seconds(15))

interface Row {
  readonly organization_id: string
  readonly id: string
  readonly recipient: string
  readonly joins: boolean
  readonly letter_sealed: string
  readonly created_at: Date
  readonly attempts: number
}

/** The mails that leave as one. */
type Bundle = readonly [Row, ...Array<Row>]

const failed = Metric.counter("console_mail_failed_total", {
  description: "Mails that were given up",
  incremental: true
})

const decodeLetter = Schema.decodeUnknownEffect(Schema.fromJsonString(Letter))

const keyOf = ({ organization_id, recipient }: Row) => JSON.stringify([organization_id, recipient])

const rowOf = ({ id, organization_id, recipient }: Pick<Row, "id" | "organization_id" | "recipient">) =>
  JSON.stringify([organization_id, id, recipient])

/**
 * Drops what goes to nobody of what was taken: to an admin who was disabled or removed since it was written, or to an
 * admin of an organization that was closed. What goes to the support stays.
 */
const drop = (sql: SqlClient.SqlClient, taken: ReadonlyArray<Row>) => {
  const admin = (which: Statement.Fragment) =>
    sql`exists (
      select 1 from admin
      where admin.organization_id = mail.organization_id
        and lower(email collate "C") = lower(mail.recipient collate "C") and ${which})`
  return sql<Pick<Row, "id" | "organization_id" | "recipient">>`
    delete from mail
    using unnest(${taken.map((row) => row.organization_id)}::text[], ${taken.map((row) => row.id)}::uuid[],
      ${taken.map((row) => row.recipient)}::text[]) as taken (organization_id, id, recipient)
    where mail.organization_id = taken.organization_id and mail.id = taken.id and mail.recipient = taken.recipient
      and kind <> ${supportRequested.kind} and (
        exists (select 1 from organization where organization.id = mail.organization_id and closed_at is not null)
        or not ${admin(sql`removed_at is null and disabled_at is null`)} and (
          ${admin(sql`removed_at is null and disabled_at is not null`)} or ${admin(sql`removed_at is not null`)}))
    returning mail.organization_id, mail.id, mail.recipient`
}

/**
 * Claims what is due, and with a notification all that wait for the same person where there are many; null where
 * nothing is due that nobody else holds.
 */
const claim = Effect.fnUntraced(function*(token: string) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* Clock.currentTimeMillis
  const now = new Date(at)
  const columns = sql.literal("organization_id, id, recipient, joins, letter_sealed, created_at, attempts")
  const free = sql`next_at is not null and (claimed_until is null or claimed_until <= ${now})`
  return yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
    const due = yield* sql<Row>`
      select ${columns} from mail where next_at <= ${now} and ${free}
      order by next_at limit ${batch} for update skip locked`
    if (due.length === 0) return null
    const dropped = new Set((yield* drop(sql, due)).map(rowOf))
    const bundles = new Map<string, Bundle>()
    for (const row of due.filter((one) => !dropped.has(rowOf(one)))) {
      if (row.joins && !bundles.has(keyOf(row))) {
        const [first, ...more] = yield* sql<Row>`
          select ${columns} from mail
          where organization_id = ${row.organization_id} and recipient = ${row.recipient} and joins and ${free}
          order by created_at limit ${joinedAtMost} for update skip locked`
        if (first !== undefined && more.length + 1 >= joinedFrom) bundles.set(keyOf(row), [first, ...more])
      }
      if (!row.joins || !bundles.has(keyOf(row))) bundles.set(rowOf(row), [row])
    }
    const claimed = [...bundles.values()]
    for (const { id, organization_id, recipient } of claimed.flat()) {
      yield* sql`
        update mail set claimed_by = ${token}, claimed_until = ${new Date(at + Duration.toMillis(claimTime))}
        where organization_id = ${organization_id} and id = ${id} and recipient = ${recipient}`
    }
    return claimed
  })))
})

/** True if anything is due; a plain question, because it is asked every second. */
const isDue = Effect.fnUntraced(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const due = yield* Tenant.ask<{ readonly due: number }>(
    sql,
    `select 1 as due from mail
    where next_at <= $1 and next_at is not null and (claimed_until is null or claimed_until <= $1) limit 1`,
    [now]
  )
  return due.length > 0
})

/** The text of a mail; dies if it was sealed under a pepper that is no longer given. */
const letterOf = Effect.fnUntraced(function*({ id, letter_sealed, organization_id }: Row) {
  const vault = yield* Vault
  const opened = yield* vault.open(letter_sealed, sealedFor(organization_id, id))
  return yield* Effect.orDie(decodeLetter(Redacted.value(opened)))
})

const send = Effect.fnUntraced(function*(bundle: Bundle) {
  const sender = yield* MailSender
  const letters = yield* Effect.forEach(bundle, letterOf)
  const [first] = bundle
  const [letter] = letters
  if (sender === null || letter === undefined) return yield* new NotSent({ reason: "no mail is set up", final: false })
  yield* sender.send({
    id: first.id,
    recipient: first.recipient,
    at: first.created_at,
    letter: letters.length === 1 ? letter : joined(letters)
  })
})

/** Keeps how it went; nothing where another process has claimed the mail since. */
const finish = Effect.fnUntraced(function*(token: string, bundle: Bundle, failure: NotSent | null) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  let givenUp = 0
  yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
    for (const { attempts, created_at, id, organization_id, recipient } of bundle) {
      const next = failure === null || failure.final ? null : nextAttempt(created_at, attempts + 1, now)
      if (failure !== null && next === null) givenUp += 1
      yield* sql`
        update mail set ${
        sql.update({
          attempts: attempts + 1,
          claimed_by: null,
          claimed_until: null,
          next_at: next,
          sent_at: failure === null ? now : null,
          failed_at: failure !== null && next === null ? now : null,
          error: failure?.reason ?? null
        })
      }, letter_sealed = case when ${next}::timestamptz is null then null else letter_sealed end
        where organization_id = ${organization_id} and id = ${id} and recipient = ${recipient}
          and claimed_by = ${token}`
    }
  })))
  if (givenUp > 0) yield* Metric.update(failed, givenUp)
})

/** Forgets the mails that are over, after a while for which no cause writes them again. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const before = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(mailKept))
  yield* Tenant.directory(sql)(sql`delete from mail where created_at <= ${before} and next_at is null`)
})

/** Sends the mails that are due; logs the first failure of a server, and when it works again. */
export const turns = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const clock = yield* Clock.Clock
  const most = (yield* MailSender) === null ? 0 : mailBatches
  let [waiting, oldest, countedAt] = [0, 0, -countEvery]
  yield* Gauge.show("console_mail_waiting", "Mails that are to be sent", () => waiting)
  yield* Gauge.show(
    "console_mail_oldest_seconds",
    "Age of the oldest mail that is to be sent",
    () => waiting === 0 ? 0 : Math.max(0, clock.currentTimeMillisUnsafe() - oldest) / 1000
  )
  const count = Effect.gen(function*() {
    const now = clock.currentTimeMillisUnsafe()
    if (now - countedAt < countEvery) return
    countedAt = now
    const [found] = yield* Tenant.ask<{ readonly waiting: number; readonly oldest: Date | null }>(
      sql,
      "select count(*)::integer as waiting, min(created_at) as oldest from mail where next_at is not null",
      []
    )
    waiting = found?.waiting ?? 0
    oldest = found?.oldest?.getTime() ?? 0
  })

  let failing = false
  const report = Effect.fnUntraced(function*(failure: NotSent | null) {
    if (failure !== null && !failure.final && !failing) {
      failing = true
      yield* Effect.logWarning(`Mail is not sent: ${failure.reason}`)
    }
    if (failure === null && failing) {
      failing = false
      yield* Effect.logInfo("Mail is sent again")
    }
  })
  const deliver = Effect.fnUntraced(function*(token: string, bundle: Bundle) {
    const exit = yield* Effect.exit(send(bundle))
    if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return
    // A letter that cannot be opened is tried again too: the pepper may come back.
    const failure = Exit.isSuccess(exit)
      ? null
      : exit.cause.reasons.filter(Cause.isFailReason).map(({ error }) => error)[0] ??
        new NotSent({ reason: "it could not be made", final: false })
    yield* finish(token, bundle, failure)
    yield* report(failure)
  })
  // @effect-diagnostics-next-line returnEffectInGen:off -- what sends is what is made
  return Effect.gen(function*() {
    for (let turn = 0; turn < most && (yield* isDue()); turn++) {
      const token = yield* random.uuidV7()
      const bundles = yield* claim(token)
      if (bundles === null) break
      yield* Effect.forEach(bundles, (bundle) => deliver(token, bundle), { concurrency: batch, discard: true })
    }
    yield* count
  })
})
