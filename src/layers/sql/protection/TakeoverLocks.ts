/** Locks that stopped takeovers have left end after 48 hours, whether or not the account is polled. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { takeoverWindow } from "../../../domain/Limits.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db, Journal } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"

const locksPerRun = 500

interface Due {
  readonly organization_id: string
  readonly id: string
}

const expired = (id: string, lockedAt: Date) =>
  journalEntry(service, background, journalAction("takeover.lock_expired"), {
    targetId: id,
    accountId: id,
    details: { locked_at: lockedAt.toISOString() }
  })

/** Ends the locks of the accounts that are over still, now that the accounts are locked. */
const end = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: OrganizationId, ids: ReadonlyArray<string>, until: Date) {
    const journal = yield* Journal
    const rows = yield* sql<{ id: string; locked_at: Date }>`
      select id, locked_at from account
      where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and locked_at <= ${until}
      order by id for no key update skip locked`
    if (rows.length === 0) return 0
    yield* Tenant.post(sql)(sql`
      update account set locked_at = null, lock_reason = null
      where organization_id = ${organizationId} and id = any(${rows.map(({ id }) => id)}::uuid[])`)
    for (const { id, locked_at } of rows) yield* journal.append(organizationId, expired(id, locked_at))
    return rows.length
  },
  Effect.orDie
)

/**
 * Ends the locks that are over, of all organizations that are not closed, and answers how many; rows that another
 * process has are skipped.
 */
export const expire = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const until = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(takeoverWindow))
  const due = yield* Tenant.directory(sql)(sql<Due>`
    select organization_id, id from account
    where locked_at <= ${until}
      and ${isOpen(sql, "account")}
    order by locked_at limit ${locksPerRun}`)
  let ended = 0
  for (const [organization, rows] of Map.groupBy(due, ({ organization_id }) => organization_id)) {
    const organizationId = OrganizationId.make(organization)
    ended += yield* db.transaction(organizationId, end(sql, organizationId, rows.map(({ id }) => id), until))
  }
  return ended
})
