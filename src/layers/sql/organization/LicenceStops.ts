/** Protection stops when an organization's licence ends or it is suspended, and comes back with it. */
import { Clock, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { accountName } from "../../../domain/accounts/Account.ts"
import type { StopReason } from "../../../domain/accounts/ProtectionStatus.ts"
import { service } from "../../../domain/journal/Actor.ts"
import { background, type Happened, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { lossesReportedAlone } from "../../../domain/Limits.ts"
import * as Mail from "../../../domain/mail/index.ts"
import { isProtectionActive, type LicenceFacts } from "../../../domain/organization/Organization.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import type { GuardedAccount } from "../../../domain/protection/Facts.ts"
import { Db, Journal, Outbox } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import { lockMonitors } from "../protection/MonitorLocks.ts"

const accountsPerTransaction = 500

export const licenceColumns = "status, managed, billing_state, trial_ends_at, valid_until, closed_at"

export interface Licence extends LicenceFacts {
  readonly closed_at: Date | null
}

interface Found extends Licence {
  readonly id: string
  readonly running: boolean
  readonly stopped: boolean
}

type Account =
  & Pick<GuardedAccount, "first_name" | "last_name" | "username" | "phone_number" | "stopped_at">
  & { readonly id: string; readonly licence_stopped_at: Date | null }

export const isLive = (licence: Licence, now: Date): boolean =>
  licence.closed_at === null && isProtectionActive(licence, now)

/** Accounts that are to be stopped, also those that were resumed since the last stop. */
const running = "offboarded_at is null and (licence_stopped_at is null or stopped_at is null)"

/** Accounts that wait for the licence; those that something else had stopped stay so. */
const waiting = "licence_stopped_at is not null"

/** Accounts that the licence, and nothing else, has stopped. */
const stoppedByIt = "stop_reason in ('licence', 'organization_suspended')"

const reasonOf = ({ closed_at, status }: Licence): StopReason =>
  closed_at === null && status === "active" ? "licence" : "organization_suspended"

const entry = (
  name: "protection.restored" | "protection.stopped",
  target: "account" | "organization",
  happened: Happened
) => journalEntry(service, background, { ...journalAction(name), target }, happened)

/**
 * How accounts are reported: each by itself, all in one event that is still to be written, or all in one that has been.
 */
type Reporting = "each" | "all" | "reported"

/** One batch of accounts that the licence has stopped or restored, and how many there are in all. */
interface Some {
  readonly organizationId: OrganizationId
  readonly accounts: ReadonlyArray<Account>
  readonly all: number
  readonly reporting: Reporting
}

/** Reports each account, or many at once in one event and one mail. */
const reportStopped = Effect.fnUntraced(
  function*({ accounts, all, organizationId, reporting }: Some, licence: Licence) {
    const journal = yield* Journal
    const outbox = yield* Outbox
    const reason = reasonOf(licence)
    const mails = licence.closed_at === null
    if (reporting === "reported") return
    if (reporting === "all") {
      const details = { reason, accounts: all }
      yield* journal.append(
        organizationId,
        entry("protection.stopped", "organization", { targetId: organizationId, details })
      )
      const isNew = accounts.some(({ licence_stopped_at }) => licence_stopped_at === null)
      if (mails && isNew) {
        yield* outbox.add(organizationId, "event", Mail.protectionStoppedWidely({ accounts: all, reason }))
      }
      return
    }
    for (const account of accounts) {
      const { id } = account
      const happened = { targetId: id, accountId: id, details: { reason } }
      yield* journal.append(organizationId, entry("protection.stopped", "account", happened))
      if (!mails || account.licence_stopped_at !== null) continue
      const about = { id, name: accountName(account) }
      yield* outbox.add(organizationId, "event", Mail.protectionStopped({ account: about, reason }))
    }
  }
)

const reportRestored = Effect.fnUntraced(function*({ accounts, all, organizationId, reporting }: Some) {
  const journal = yield* Journal
  if (reporting === "reported") return
  if (reporting === "all") {
    const happened = { targetId: organizationId, details: { accounts: all } }
    return yield* journal.append(organizationId, entry("protection.restored", "organization", happened))
  }
  for (const { id } of accounts) {
    yield* journal.append(organizationId, entry("protection.restored", "account", { targetId: id, accountId: id }))
  }
})

/** Changes the next accounts of an organization, by the licence as it is once the organization is locked. */
const change = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: OrganizationId, now: Date, before: Reporting | undefined) {
    const [licence] = yield* sql<Licence>`
      select ${sql.literal(licenceColumns)} from organization where id = ${organizationId} for no key update`
    if (licence === undefined) return { changed: 0, reporting: before }
    const live = isLive(licence, now)
    const due = sql.literal(live ? waiting : running)
    const mine = (ids: ReadonlyArray<string>): Statement.Fragment =>
      sql`organization_id = ${organizationId} and id = any(${ids}::uuid[])`
    // Accounts that something else had stopped were reported then, and stay stopped.
    const [{ all } = { all: 0 }] = yield* sql<{ all: number }>`
      select count(*)::int as all from account where organization_id = ${organizationId} and ${due}
        and ${sql.literal(live ? stoppedByIt : "stopped_at is null")}`
    const reporting = before ?? (all > lossesReportedAlone ? "all" : "each")
    const accounts = yield* sql<Account>`
      select id, first_name, last_name, username, phone_number, stopped_at, licence_stopped_at
      from account where organization_id = ${organizationId} and ${due} order by id limit ${accountsPerTransaction} for no key update`
    if (accounts.length === 0) return { changed: 0, reporting }
    const ids = accounts.map(({ id }) => id)
    yield* lockMonitors(sql, organizationId, ids)
    const some = { organizationId, all, reporting }
    if (live) {
      const restored = yield* sql<{ id: string; paused: boolean }>`
        update account set stopped_at = null, stop_reason = null,
          monitoring_state = case when paused_at is null then 'active' else 'stopped' end
        where ${mine(ids)} and ${sql.literal(stoppedByIt)}
        returning id, paused_at is not null as paused`
      yield* Tenant.post(sql)(sql`update account set licence_stopped_at = null where ${mine(ids)}`)
      const watched = restored.filter(({ paused }) => !paused).map(({ id }) => id)
      yield* Tenant.post(sql)(sql`
        update monitor set epoch = epoch + 1, next_at = ${now}, started_at = ${now}, failures = 0,
          first_failure_at = null, last_poll_error = null
        where organization_id = ${organizationId} and account_id = any(${watched}::uuid[])`)
      const back = new Set(restored.map(({ id }) => id))
      yield* reportRestored({ ...some, accounts: accounts.filter(({ id }) => back.has(id)) })
    } else {
      yield* Tenant.post(sql)(sql`
        update account set stop_reason = case when stopped_at is null then ${reasonOf(licence)} else stop_reason end,
          stopped_at = coalesce(stopped_at, ${now}::timestamptz),
          licence_stopped_at = coalesce(licence_stopped_at, ${now}::timestamptz), monitoring_state = 'stopped'
        where ${mine(ids)}`)
      yield* Tenant.post(sql)(sql`
        update monitor set epoch = epoch + 1, next_at = null, urgent = false
        where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])`)
      yield* reportStopped({ ...some, accounts: accounts.filter(({ stopped_at }) => stopped_at === null) }, licence)
    }
    yield* AccountStatuses.save(sql, organizationId, ids, now)
    // The next batch continues what the first has reported.
    return { changed: accounts.length, reporting: reporting === "all" ? "reported" as const : reporting }
  },
  Effect.orDie
)

/** Stops or restores the accounts of every organization by its licence, in batches; answers how many changed. */
export const applyLicences = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const found = yield* Tenant.directoryAlone(sql)(sql<Found>`
    select id, ${sql.literal(licenceColumns)},
      exists (select 1 from account where organization_id = organization.id and ${sql.literal(running)}) as running,
      exists (select 1 from account where organization_id = organization.id and ${sql.literal(waiting)}) as stopped
    from organization order by id`)
  let changed = 0
  for (const { id, ...licence } of found) {
    if (!(isLive(licence, now) ? licence.stopped : licence.running)) continue
    const organizationId = OrganizationId.make(id)
    let reporting: Reporting | undefined
    while (true) {
      const some = yield* db.transaction(organizationId, change(sql, organizationId, now, reporting))
      changed += some.changed
      reporting = some.reporting
      if (some.changed < accountsPerTransaction) break
    }
  }
  return changed
})
