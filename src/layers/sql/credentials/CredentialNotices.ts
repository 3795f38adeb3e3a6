/** Credentials that were made in an admin's name and that the admin's browser has not shown yet. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Via } from "../../../domain/people/Access.ts"
import type { CredentialNotice, SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The number of notices that a page shows, of events that are searched for them, and the events' age at most. */
const shown = 5
const looked = 200
const oldest = Duration.days(30)

interface Row {
  readonly action: string
  readonly at: Date
  readonly via: Via
  readonly ip: string | null
  readonly label: string
  readonly key: string | null
}

/** The newest of them, one more than a page shows where there are more; the browser has seen them from here on. */
export const take = Effect.fnUntraced(function*(admin: SignedIn, digest: string) {
  const sql = yield* SqlClient.SqlClient
  const { adminId, organizationId, sessionId } = admin
  const since = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(oldest))
  const rows = yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
    const [browser] = yield* sql<{ seen: number; head: number }>`
      select seen_sequence as seen, journal_head.sequence as head
      from known_browser join journal_head on journal_head.organization_id = known_browser.organization_id
      where known_browser.organization_id = ${organizationId} and admin_id = ${adminId} and digest = ${digest}`
    if (browser === undefined || browser.seen >= browser.head) return []
    const found = yield* sql<Row>`
      select action, at, via, ip, coalesce(details ->> 'label', details ->> 'client_name', '') as label,
        case when credential_kind = 'api_key' then credential_label end as key
      from (
        select * from journal_event
        where organization_id = ${organizationId} and object in ('api_key', 'oauth') and sequence > ${browser.seen}
        order by sequence desc limit ${looked}) as event
      where action in ('api_key.created', 'oauth.connected') and at > ${since}
        and credential_id is distinct from ${sessionId}
        and (actor_admin_id = ${adminId} or actor_type = 'operator' and exists (
          select 1 from api_key
          where api_key.organization_id = ${organizationId} and api_key.id::text = target_id
            and admin_id = ${adminId}))
      order by sequence desc limit ${shown + 1}`
    yield* sql`
      update known_browser set seen_sequence = ${browser.head}
      where organization_id = ${organizationId} and admin_id = ${adminId} and digest = ${digest}`
    return found
  }))
  return {
    more: rows.length > shown,
    notices: rows.slice(0, shown).map(({ action, ...row }): CredentialNotice => ({
      ...row,
      kind: action === "api_key.created" ? "api_key" : "application"
    }))
  }
})
