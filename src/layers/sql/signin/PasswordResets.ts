import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { passwordResetLifetime } from "../../../domain/Limits.ts"
import { after, before, now } from "../../../domain/Moments.ts"
import * as Ports from "../../../ports/index.ts"
import type { OpenReset } from "../../../ports/signin/ForgottenPasswords.ts"
import { ResetTokens } from "../../crypto/signin/LinkTokens.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"
import { maySignInHere } from "./IdentityProviders.ts"

const day = Duration.days(1)

/**
 * The condition that an admin may sign in by a password: the organization was not wound down, and nobody has to come by
 * its identity provider instead.
 */
export const mayHavePassword = (sql: SqlClient.SqlClient) =>
  sql`joined_at is not null and disabled_at is null and removed_at is null and ${maySignInHere(sql)}
    and ${isOpen(sql)}`

/** Links in SQL, by the digests of their tokens. */
export const layer = Layer.effect(
  Ports.PasswordResets,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const tokens = yield* ResetTokens
    return Ports.PasswordResets.of({
      make: Effect.fnUntraced(function*({ adminId, organizationId }, { knownBrowser, mailed }, at) {
        const token = yield* tokens.make
        const { digest, pepperId } = tokens.digest(token)
        const expiresAt = after(at, passwordResetLifetime)
        yield* sql`insert into password_reset ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            admin_id: adminId,
            digest,
            pepper_id: pepperId,
            known_browser: knownBrowser,
            mailed,
            created_at: at,
            expires_at: expiresAt
          })
        }`
        return { token, expiresAt }
      }, Effect.orDie),

      find: Effect.fnUntraced(function*(token, organizationId) {
        if (!tokens.isWellFormed(token)) return null
        const at = yield* now
        return yield* Sql.one(
          Tenant.directory(sql)(sql<OpenReset>`
          select organization.id as "organizationId", organization.name as "organizationName", admin.id as "adminId",
            email
          from password_reset
          join admin on admin.organization_id = password_reset.organization_id and admin.id = admin_id
          join organization on organization.id = admin.organization_id
          where ${sql.in("digest", tokens.digests(token))} and expires_at > ${at} and ${mayHavePassword(sql)}
            and (${organizationId}::text is null or organization.id = ${organizationId})`)
        )
      }),

      lockAdmin: ({ adminId, organizationId }) =>
        sql`
          select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and ${mayHavePassword(sql)}
          for no key update`.pipe(Effect.orDie, Sql.exists),

      isOpen: ({ adminId, organizationId }, token, at) =>
        sql`
          select 1 from password_reset
          where organization_id = ${organizationId} and admin_id = ${adminId}
            and ${sql.in("digest", tokens.digests(token))} and expires_at > ${at}`.pipe(Effect.orDie, Sql.exists),

      countMailed: ({ adminId, organizationId }, since, at) => {
        const ofStrangers = sql`not known_browser and created_at > ${before(at, day)}`
        return sql<Ports.MailedResets>`
          select exists (
              select 1 from password_reset
              where organization_id = ${organizationId} and admin_id = ${adminId} and mailed and created_at > ${since}
                and digest is not null) as lately,
            (select count(*) from password_reset
              where organization_id = ${organizationId} and admin_id = ${adminId} and mailed
                and ${ofStrangers}) as of_admin,
            (select count(*) from password_reset
              where organization_id = ${organizationId} and mailed and ${ofStrangers}) as of_all`.pipe(
          Effect.orDie,
          Effect.map(([sent]) => sent ?? { lately: true, of_admin: 0, of_all: 0 })
        )
      }
    })
  })
)

/** Deletes links that no limit counts any more, and requests that were not handled for as long. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const since = before(yield* now, day)
  yield* Tenant.directory(sql)(sql`delete from password_reset where created_at <= ${since}`)
  yield* Tenant.directory(sql)(sql`delete from password_reset_request where created_at <= ${since}`)
})
