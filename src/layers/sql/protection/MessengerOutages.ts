import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { type ActionName, background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../../../domain/journal/JournalEvent.ts"
import { awayReturn } from "../../../domain/Limits.ts"
import * as Mail from "../../../domain/mail/index.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db, Journal, Outbox } from "../../../ports/index.ts"
import { Outages } from "../../../ports/protection/MessengerOutages.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const accountsPerTransaction = 1000

/** Before every account. */
const nobody = "00000000-0000-0000-0000-000000000000"

const entry = (
  action: ActionName,
  organizationId: OrganizationId,
  details: JournalDetails
) =>
  journalEntry(service, background, { ...journalAction(action), target: "organization" }, {
    targetId: organizationId,
    details
  })

/** Reports many accounts at once in one event and one mail, within the transaction. */
export const reportLost = Effect.fnUntraced(function*(organizationId: OrganizationId, error: string, accounts: number) {
  const journal = yield* Journal
  const outbox = yield* Outbox
  yield* journal.append(organizationId, entry("monitoring.lost", organizationId, { error, accounts }))
  yield* outbox.add(organizationId, "event", Mail.monitoringLostWidely({ accounts }))
})

/** Reports that they are watched again. */
export const reportRestored = (organizationId: OrganizationId, details: JournalDetails) =>
  Effect.flatMap(
    Journal,
    (journal) => journal.append(organizationId, entry("monitoring.restored", organizationId, details))
  )

/** True if the organization has been notified that the messenger is away. */
export const isNotified = (sql: SqlClient.SqlClient, organizationId: OrganizationId) =>
  Effect.map(
    sql`select from organization where id = ${organizationId} and messenger_away_at is not null`,
    (rows) => rows.length > 0
  )

/** The notifications in SQL. */
export const layer = Layer.effect(
  Outages,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db
    const services = yield* Effect.context<Journal | Outbox>()
    const notified = new Set<OrganizationId>()

    const notify = Effect.fnUntraced(function*(organizationId: OrganizationId) {
      if (notified.has(organizationId)) return
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          const first = yield* sql`
            update organization set messenger_away_at = ${now}
            where id = ${organizationId} and messenger_away_at is null returning id`
          if (first.length === 0) return
          const watched = yield* sql<{ accounts: number }>`
            select count(*)::int as accounts from monitor
            where organization_id = ${organizationId} and next_at is not null`
          yield* reportLost(organizationId, "unavailable", watched[0]?.accounts ?? 0)
        }).pipe(Effect.orDie, Effect.provideContext(services))
      )
      notified.add(organizationId)
    })

    /**
     * Makes those due that were not seen, as they may be silent or lost by what was before; answers after whom to go
     * on.
     */
    const makeDue = (organizationId: OrganizationId, after: string, now: Date) =>
      db.transaction(
        organizationId,
        Effect.gen(function*() {
          // Overdue accounts have waited behind others; the messenger was not asked about them.
          const unseen = yield* sql<{ account_id: string }>`
            with unseen as (
              select account_id from monitor
              where organization_id = ${organizationId} and account_id > ${after} and next_at is not null
                and (next_at <= ${now} or failures > 0 and last_poll_error in ('unavailable', 'silent'))
              order by account_id limit ${accountsPerTransaction} for no key update)
            update monitor set failures = least(failures, 1), started_at = ${now}, next_at = least(next_at,
              ${now}::timestamptz + slot * ${Duration.toMillis(awayReturn)} / 1024 * interval '1 millisecond')
            from unseen where monitor.organization_id = ${organizationId} and monitor.account_id = unseen.account_id
            returning monitor.account_id`
          return unseen.length < accountsPerTransaction
            ? null
            : unseen.map(({ account_id }) => account_id).toSorted().at(-1) ?? null
        }).pipe(Effect.orDie)
      )

    const endOutage = Effect.fnUntraced(function*(organizationId: OrganizationId) {
      const now = new Date(yield* Clock.currentTimeMillis)
      let after: string | null = nobody
      while (after !== null) after = yield* makeDue(organizationId, after, now)
      yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          const notified = yield* sql`
            update organization set messenger_away_at = null
            where id = ${organizationId} and messenger_away_at is not null returning id`
          if (notified.length === 0) return
          yield* reportRestored(organizationId, {})
        }).pipe(Effect.orDie, Effect.provideContext(services))
      )
    })

    const organizations = (which: "notified" | "watched") =>
      Effect.map(
        Tenant.ask<{ id: string }>(
          sql,
          which === "notified"
            ? "select id from organization where messenger_away_at is not null order by id"
            : "select distinct organization_id as id from monitor where next_at is not null order by id",
          []
        ),
        (rows) => rows.map(({ id }) => OrganizationId.make(id))
      )

    /** Notifies each of them; a failure for one does not stop the others. */
    const each = (which: "notified" | "watched", one: typeof notify) =>
      organizations(which).pipe(
        Effect.flatMap(Effect.forEach((id) =>
          Effect.as(one(id), true).pipe(
            Effect.catchTag("service_unavailable", () => Effect.succeed(false)),
            Effect.catchDefect((defect) =>
              Effect.as(Effect.logError(`${id} was not notified of the outage`, defect), false)
            )
          )
        )),
        Effect.map((done) => done.every(Boolean)),
        Effect.catchTag("service_unavailable", () => Effect.succeed(false))
      )

    return {
      notify,
      notifyAll: each("watched", notify),
      notifyBack: Effect.suspend(() => {
        notified.clear()
        return each("notified", endOutage)
      })
    }
  })
)
