/** Sets the status of accounts to unknown that were not polled for too long, whatever the reason. */
import { Clock, type Duration, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { accountName } from "../../../domain/accounts/Account.ts"
import { isWatched } from "../../../domain/accounts/ProtectionStatus.ts"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import {
  failuresUntilUnknown,
  lossesReportedAlone,
  silenceUntilUnknown,
  unpolledReported
} from "../../../domain/Limits.ts"
import * as Mail from "../../../domain/mail/index.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import type { GuardedAccount, MonitorFacts } from "../../../domain/protection/Facts.ts"
import { isOlder } from "../../../domain/protection/PollFacts.ts"
import { isSilent, silentSince } from "../../../domain/protection/Polling.ts"
import { Db, Journal, Outbox } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import * as Outages from "./MessengerOutages.ts"
import * as Polls from "./Polls.ts"

const accountsPerRun = 2000

/** The monitor's row after polls that were not made. */
const error = "silent"

type Row =
  & Pick<
    GuardedAccount,
    | "first_name"
    | "last_name"
    | "username"
    | "phone_number"
    | "monitoring_state"
    | "offboarded_at"
    | "paused_at"
    | "stopped_at"
  >
  & { readonly id: string }

const isMany = (accounts: ReadonlyArray<Row>) => accounts.length > lossesReportedAlone

/** Reports each account, or many at once in one event and one mail. */
const report = Effect.fnUntraced(function*(organizationId: OrganizationId, accounts: ReadonlyArray<Row>) {
  if (isMany(accounts)) return yield* Outages.reportLost(organizationId, error, accounts.length)
  const journal = yield* Journal
  const outbox = yield* Outbox
  for (const account of accounts) {
    const { id } = account
    yield* journal.append(
      organizationId,
      journalEntry(service, background, journalAction("monitoring.lost"), {
        targetId: id,
        accountId: id,
        details: { error }
      })
    )
    const about = { id, name: accountName(account) }
    yield* outbox.add(organizationId, "event", Mail.monitoringLost({ account: about, reason: "unreachable" }))
  }
})

/** Makes those of the accounts unknown that are silent still, now that they are locked. */
const become = Effect.fnUntraced(
  function*(
    sql: SqlClient.SqlClient,
    organizationId: OrganizationId,
    ids: ReadonlyArray<string>,
    now: Date,
    silence: Duration.Duration
  ) {
    yield* sql`select from organization where id = ${organizationId} for no key update`
    const rows = yield* sql<Row>`
      select id, first_name, last_name, username, phone_number, monitoring_state, offboarded_at, paused_at, stopped_at
      from account where organization_id = ${organizationId} and id = any(${ids}::uuid[])
      order by id for no key update skip locked`
    const monitors = yield* sql<Pick<MonitorFacts, "last_ok_at" | "started_at"> & { readonly account_id: string }>`
      select account_id, last_ok_at, started_at from monitor
      where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])
      order by account_id for no key update skip locked`
    const lost = new Set(
      monitors.filter((monitor) => isSilent(monitor, now, silence)).map(({ account_id }) => account_id)
    )
    const found = rows.filter((row) => row.monitoring_state === "active" && isWatched(row) && lost.has(row.id))
    if (found.length === 0) return 0
    const unknown = found.map(({ id }) => id)
    yield* sql`
      update account set monitoring_state = 'unknown'
      where organization_id = ${organizationId} and id = any(${unknown}::uuid[])`
    const away = yield* Outages.isNotified(sql, organizationId)
    const silent = !away && isMany(found)
    const facets = { ...(away ? { away } : {}), ...(silent ? { silent } : {}) }
    if (silent) {
      yield* sql`
        update organization set silent_accounts = coalesce(silent_accounts, 0) + ${found.length}
        where id = ${organizationId}`
    }
    yield* sql`
      update monitor set last_poll_error = ${error}, facets = facets || ${JSON.stringify(facets)}::jsonb
      where organization_id = ${organizationId} and account_id = any(${unknown}::uuid[])`
    yield* AccountStatuses.save(sql, organizationId, unknown, now)
    if (!away) yield* report(organizationId, found)
    return found.length
  },
  Effect.orDie
)

/** Notifies an organization once all of those accounts are watched again, or not watched any more. */
const restore = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: OrganizationId) {
    const [notified] = yield* sql<{ accounts: number | null }>`
      select silent_accounts as accounts from organization where id = ${organizationId} for no key update`
    const accounts = notified?.accounts ?? null
    if (accounts === null) return
    const left = yield* sql`
      select from account join monitor
        on monitor.organization_id = account.organization_id and monitor.account_id = account.id
      where account.organization_id = ${organizationId} and monitoring_state = 'unknown' and facets ? 'silent' limit 1`
    if (left.length > 0) return
    yield* sql`update organization set silent_accounts = null where id = ${organizationId}`
    yield* Outages.reportRestored(organizationId, { accounts })
  },
  Effect.orDie
)

/**
 * Makes the accounts unknown that are due and have had no good poll for so long, and returns how many; those that a
 * process polls now or has locked are left to it. One that has failed so often is unknown already.
 */
const noticeAfter = Effect.fnUntraced(function*(silence: Duration.Duration) {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const due = yield* Tenant.directory(sql)(sql<{ organization_id: string; account_id: string }>`
    select organization_id, account_id from monitor
    where next_at <= ${now} and greatest(last_ok_at, started_at) <= ${silentSince(now, silence)}
      and (busy_until is null or busy_until <= ${now})
      and failures < ${failuresUntilUnknown} and last_poll_error is distinct from ${error}
    order by organization_id, account_id limit ${accountsPerRun}`)
  let unknown = 0
  for (const [organization, rows] of Map.groupBy(due, ({ organization_id }) => organization_id)) {
    const organizationId = OrganizationId.make(organization)
    const ids = rows.map(({ account_id }) => account_id)
    unknown += yield* db.transaction(organizationId, become(sql, organizationId, ids, now, silence))
  }
  const notified = yield* Tenant.directory(sql)(sql<{ id: string }>`
    select id from organization where silent_accounts is not null order by id`)
  for (const { id } of notified) {
    const organizationId = OrganizationId.make(id)
    yield* db.transaction(organizationId, restore(sql, organizationId))
  }
  return unknown
})

export const notice = noticeAfter(silenceUntilUnknown)

/** Accounts are due, and no process polls any. */
class NotPolled extends Schema.TaggedError<NotPolled>()("NotPolled", { message: Schema.String }) {}

/**
 * Fails where no process polls any account although one is due, and makes the accounts unknown, which is reported. A
 * process that has only just started has not waited long enough to say so: the others may have started with it.
 */
export const noticeNoWorker = Effect.gen(function*() {
  const started = yield* Clock.currentTimeMillis
  // @effect-diagnostics-next-line returnEffectInGen:off -- the job is what is made
  return Effect.gen(function*() {
    const now = new Date(yield* Clock.currentTimeMillis)
    if (!isOlder(new Date(started), unpolledReported, now)) return
    const since = yield* Polls.waitingSince
    if (!isOlder(since, unpolledReported, now)) return
    yield* noticeAfter(unpolledReported)
    return yield* new NotPolled({
      message: `No account has been polled since ${since?.toISOString()}, although some are due: no worker watches`
    })
  })
})
