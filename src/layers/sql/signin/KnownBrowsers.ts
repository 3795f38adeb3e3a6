/** Browsers that an admin has signed in with, known by a cookie that lives longer than the session. */
import { Clock, Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { knownBrowserLifetime, knownBrowsersKept } from "../../../domain/Limits.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The stored form of a browser's secret. */
export const browserDigest = (secret: Redacted.Redacted): string =>
  crypto.createHash("sha256").update(Redacted.value(secret)).digest("hex")

/** Gives a browser a new secret, for every admin who has signed in with it; outside any organization. */
export const renew = (sql: SqlClient.SqlClient, before: Redacted.Redacted, after: Redacted.Redacted) =>
  sql`update known_browser set digest = ${browserDigest(after)} where digest = ${browserDigest(before)}`

/** Knows the browser as one of the admin's, and forgets the ones used longest ago; within the organization. */
export const remember = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { adminId, organizationId }: AdminRef,
  secret: Redacted.Redacted,
  address: string | null,
  now: Date
) {
  yield* Tenant.post(sql)(sql`
    insert into known_browser (organization_id, admin_id, digest, address, seen_sequence, last_used_at, known_since)
    values (${organizationId}, ${adminId}, ${browserDigest(secret)}, ${address}, coalesce((
      select max(seen_sequence) from known_browser
      where organization_id = ${organizationId} and admin_id = ${adminId}), 0), ${now}, ${now})
    on conflict (organization_id, admin_id, digest) do update
      set address = excluded.address, last_used_at = excluded.last_used_at`)
  yield* Tenant.post(sql)(sql`
    delete from known_browser
    where organization_id = ${organizationId} and admin_id = ${adminId} and digest not in (
      select digest from known_browser where organization_id = ${organizationId} and admin_id = ${adminId}
      order by last_used_at desc, digest limit ${knownBrowsersKept})`)
})

/**
 * The counter of wrong answers in a console session: all of the admin's sessions together, however many another person
 * begins, and apart from them those of browsers that were known for long before, which nobody else makes quickly.
 */
export const sessionsOf = (sql: SqlClient.SqlClient, { adminId, organizationId }: AdminRef, sessionId: string) =>
  Effect.map(
    Tenant.transaction(sql, organizationId, { access: "read" })(sql<{ known: boolean }>`
      select long_known as known from console_session
      where organization_id = ${organizationId} and admin_id = ${adminId} and id::text = ${sessionId}`),
    ([session]) => session?.known === true ? "known" : "new"
  )

/** Forgets the browsers that were not used for so long that they are not known any more. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from known_browser where last_used_at <= ${new Date(now - Duration.toMillis(knownBrowserLifetime))}`
  )
})
