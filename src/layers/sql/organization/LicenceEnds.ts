/** The consequences of licences that have ended: trials lapse, organizations are suspended, and accounts are left. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../domain/accounts/Account.ts"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { licenceEndKept, retiredSessionKept, unrevealedKept } from "../../../domain/Limits.ts"
import { endedByTime } from "../../../domain/organization/Organization.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { plus } from "../../../domain/protection/Deadline.ts"
import { Db, Directory, Journal, Organizations, OwnSessions, Secrets } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isLive, type Licence, licenceColumns } from "./LicenceStops.ts"

const accountsPerRun = 500

/** Changes the organization as time has, if it still has once the organization is locked. */
const end = Effect.fnUntraced(function*(organizationId: OrganizationId, now: Date) {
  const directory = yield* Directory
  const journal = yield* Journal
  const organizations = yield* Organizations
  const changes = endedByTime(yield* organizations.lockFacts(organizationId), now)
  if (changes === null) return 0
  yield* directory.update(organizationId, changes)
  const [name, details] = changes.billing_state === undefined
    ? ["organization.suspended", { reason: "licence" }] as const
    : ["organization.set", { billing_state: changes.billing_state }] as const
  yield* journal.append(
    organizationId,
    journalEntry(service, background, journalAction(name), { targetId: organizationId, details })
  )
  return 1
})

/** Lets trials lapse that are over, and suspends organizations 30 days after their licence; answers how many. */
export const endLicences = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const found = yield* Tenant.directory(sql)(sql<{ id: string }>`
    select id from organization where closed_at is null and (managed and billing_state = 'trial' and trial_ends_at <= ${now}
      or not managed and status = 'active' and valid_until <= ${plus(now, Duration.negate(licenceEndKept))})
    order by id`)
  let ended = 0
  for (const { id } of found) {
    const organizationId = OrganizationId.make(id)
    ended += yield* db.transaction(organizationId, end(organizationId, now))
  }
  return ended
})

interface Due {
  readonly organization_id: string
  readonly id: string
}

/**
 * Leaves accounts as offboarding does where the messenger is away: what was set is released by the task that logs out.
 */
const leave = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: OrganizationId, due: ReadonlyArray<string>, now: Date) {
    const own = yield* OwnSessions
    const secrets = yield* Secrets
    const [licence] = yield* sql<Licence>`
      select ${sql.literal(licenceColumns)} from organization where id = ${organizationId} for no key update`
    if (licence === undefined || isLive(licence, now)) return 0
    const accounts = yield* sql<{ id: string }>`
      select id from account
      where organization_id = ${organizationId} and id = any(${due}::uuid[]) and licence_stopped_at is not null
      order by id for no key update`
    for (const { id } of accounts) {
      const of = { organizationId, accountId: AccountId.make(id) }
      yield* secrets.leave(of, { passwords: plus(now, unrevealedKept), passkeys: plus(now, retiredSessionKept) })
      yield* own.leave(of, { due: now, now })
    }
    yield* sql`
      update account set session_ref = null, stopped_at = coalesce(stopped_at, ${now}::timestamptz), stop_reason = case
          when stop_reason = 'account_deleted_by_platform' then stop_reason else 'session_lost' end
      where organization_id = ${organizationId} and id = any(${accounts.map(({ id }) => id)}::uuid[])`
    return accounts.length
  },
  Effect.orDie
)

/** Leaves the accounts that have been without a licence for 30 days, and still have something of the service's. */
export const leaveAccounts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const due = yield* Tenant.directory(sql)(sql<Due>`
    select organization_id, id from account
    where licence_stopped_at <= ${plus(now, Duration.negate(licenceEndKept))} and offboarded_at is null
      and (exists (select from service_session as own where own.organization_id = account.organization_id
          and own.account_id = account.id and slot <> 'retired')
        or exists (select from account_secret as held where held.organization_id = account.organization_id
          and held.account_id = account.id and erase_at is null))
    order by organization_id, id limit ${accountsPerRun}`)
  let left = 0
  for (const [organization, rows] of Map.groupBy(due, ({ organization_id }) => organization_id)) {
    const organizationId = OrganizationId.make(organization)
    left += yield* db.transaction(organizationId, leave(sql, organizationId, rows.map(({ id }) => id), now))
  }
  return left
})
