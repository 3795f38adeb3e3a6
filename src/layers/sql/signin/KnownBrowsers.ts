import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { knownBrowserLifetime, knownBrowsersKept } from "../../../domain/Limits.ts"
import { before, now } from "../../../domain/Moments.ts"
import { KnownBrowsers } from "../../../ports/signin/KnownBrowsers.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Notices from "../credentials/CredentialNotices.ts"

export const layer = Layer.effect(
  KnownBrowsers,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    return KnownBrowsers.of({
      renew: (from, to) =>
        Effect.asVoid(Tenant.directory(sql)(sql`update known_browser set digest = ${to} where digest = ${from}`)),

      remember: Effect.fnUntraced(function*({ adminId, organizationId }, digest, address, at) {
        yield* post(sql`
          insert into known_browser (organization_id, admin_id, digest, address, seen_sequence, last_used_at, known_since)
          values (${organizationId}, ${adminId}, ${digest}, ${address}, coalesce((
            select max(seen_sequence) from known_browser
            where organization_id = ${organizationId} and admin_id = ${adminId}), 0), ${at}, ${at})
          on conflict (organization_id, admin_id, digest) do update
            set address = excluded.address, last_used_at = excluded.last_used_at`)
        yield* post(sql`
          delete from known_browser
          where organization_id = ${organizationId} and admin_id = ${adminId} and digest not in (
            select digest from known_browser where organization_id = ${organizationId} and admin_id = ${adminId}
            order by last_used_at desc, digest limit ${knownBrowsersKept})`)
      }),

      isKnown: ({ adminId, organizationId }, digest, since) =>
        sql`
          select 1 from known_browser
          where organization_id = ${organizationId} and admin_id = ${adminId} and digest = ${digest}
            and last_used_at > ${since}`.pipe(Effect.orDie, Sql.exists),

      takeNotices: (admin, digest) => Effect.provideService(Notices.take(admin, digest), SqlClient.SqlClient, sql)
    })
  })
)

/** Forgets the browsers that were not used for so long that they are not known any more. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ended = before(yield* now, knownBrowserLifetime)
  yield* Tenant.directory(sql)(sql`delete from known_browser where last_used_at <= ${ended}`)
})
