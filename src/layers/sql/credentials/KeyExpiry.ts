/** API keys that expire: their admins are mailed a week before, and the end is journaled. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import * as Mail from "../../../domain/mail/index.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db, Journal, Outbox } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"

/** The time before its end that the admin of a key is mailed; no mail is sent for a key that is younger than that. */
const notice = Duration.days(7)

const keysPerRun = 500

interface Key {
  readonly id: string
  readonly admin_id: string
  readonly label: string
  readonly expires_at: Date
}

interface Due {
  readonly organization_id: string
  readonly id: string
}

const expired = ({ expires_at, id, label }: Key) =>
  journalEntry(service, background, journalAction("api_key.expired"), {
    targetId: id,
    details: { label, expired_at: expires_at.toISOString() }
  })

/** Reports the keys of one organization that have not been revoked meanwhile. */
const report = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: OrganizationId, ids: ReadonlyArray<string>, now: Date) {
    const journal = yield* Journal
    const outbox = yield* Outbox
    const mine = sql`organization_id = ${organizationId} and id = any(${ids}::uuid[]) and revoked_at is null`
    const keys = yield* sql<Key & { readonly ended: boolean }>`
      select id, admin_id, label, expires_at, expires_at <= ${now} as ended from api_key
      where ${mine} and expiry_told is distinct from (case when expires_at <= ${now} then 'ended' else 'soon' end)
      order by id for no key update skip locked`
    for (const { ended, ...key } of keys) {
      yield* sql`
        update api_key set expiry_told = ${ended ? "ended" : "soon"}
        where organization_id = ${organizationId} and id = ${key.id}`
      if (ended) yield* journal.append(organizationId, expired(key))
      else {
        const letter = Mail.apiKeyExpires({ adminId: key.admin_id, label: key.label, expiresAt: key.expires_at })
        yield* outbox.add(organizationId, `api_key/${key.id}`, letter)
      }
    }
    return keys.length
  },
  Effect.orDie
)

/**
 * Reports each key once that ends within a week or has ended, of all organizations that are not closed; returns their
 * number.
 */
export const reportExpiry = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const soon = new Date(now.getTime() + Duration.toMillis(notice))
  const age = new Date(now.getTime() - Duration.toMillis(notice))
  const due = yield* Tenant.directory(sql)(sql<Due>`
    select organization_id, id from api_key
    where revoked_at is null and expiry_told is distinct from 'ended' and (
      expires_at <= ${now} or expires_at <= ${soon} and expiry_told is null and created_at <= ${age})
      and ${isOpen(sql, "api_key")}
    order by expires_at limit ${keysPerRun}`)
  let reported = 0
  for (const [organization, keys] of Map.groupBy(due, ({ organization_id }) => organization_id)) {
    const organizationId = OrganizationId.make(organization)
    reported += yield* db.transaction(organizationId, report(sql, organizationId, keys.map(({ id }) => id), now))
  }
  return reported
})
