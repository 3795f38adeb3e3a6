import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import type { PasskeyDescriptor, StoredPasskey } from "../../../ports/signin/FactorProofs.ts"
import type { Passkey } from "../../../ports/signin/SecondFactors.ts"
import { AuthenticatorApps, StoredPasskeys, StoredRecoveryCodes } from "../../../ports/signin/StoredFactors.ts"
import { hmac, type Pepper, Peppers } from "../../crypto/Peppers.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The context that an authenticator app's secret is sealed for. */
export const sealedFor = ({ adminId, organizationId }: AdminRef): ReadonlyArray<string> => [
  "totp",
  organizationId,
  adminId
]

/** The stored form of a recovery code, written without its groups. */
export const codeDigest = (pepper: Pepper, { adminId, organizationId }: AdminRef, code: string): string =>
  hmac(pepper, JSON.stringify(["recovery code", organizationId, adminId, code]))

const ofAdmin = (sql: SqlClient.SqlClient, { adminId, organizationId }: AdminRef) =>
  sql`organization_id = ${organizationId} and admin_id = ${adminId}`

const apps = Layer.effect(
  AuthenticatorApps,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    return AuthenticatorApps.of({
      addedAt: (admin) =>
        sql<{ at: Date }>`select created_at as at from totp where ${ofAdmin(sql, admin)}`.pipe(
          Effect.orDie,
          Effect.map(([app]) => app?.at ?? null)
        ),

      find: Effect.fnUntraced(function*(admin) {
        const [app] = yield* sql<{ sealed: string }>`
          select secret_sealed as sealed from totp where ${ofAdmin(sql, admin)}`
        return app === undefined ? null : { ...app, secret: yield* vault.open(app.sealed, sealedFor(admin)) }
      }, Effect.orDie),

      use: (admin, { sealed }, step) =>
        sql`
          update totp set used_step = ${step}
          where ${ofAdmin(sql, admin)} and secret_sealed = ${sealed} and used_step < ${step}
          returning 1`.pipe(Effect.orDie, Sql.exists),

      put: (admin, secret, step, at) =>
        sql`
          insert into totp (organization_id, admin_id, secret_sealed, used_step, created_at)
          values (${admin.organizationId}, ${admin.adminId}, ${vault.seal(secret, sealedFor(admin))}, ${step}, ${at})
          on conflict (organization_id, admin_id) do update set
            secret_sealed = excluded.secret_sealed, used_step = excluded.used_step, created_at = excluded.created_at
          where totp.used_step < excluded.used_step
          returning 1`.pipe(Effect.orDie, Sql.exists),

      remove: (admin) => sql`delete from totp where ${ofAdmin(sql, admin)} returning 1`.pipe(Effect.orDie, Sql.exists)
    })
  })
)

const passkeys = Layer.effect(
  StoredPasskeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    return StoredPasskeys.of({
      list: (admin) =>
        sql<Passkey>`
          select id, name, created_at as "createdAt", last_used_at as "lastUsedAt", backed_up as "backedUp",
            rp_id as host
          from passkey where ${ofAdmin(sql, admin)} order by created_at, id`.pipe(Effect.orDie),

      at: (admin, { id }) =>
        sql<PasskeyDescriptor>`
          select credential_id as id, transports from passkey
          where ${ofAdmin(sql, admin)} and rp_id = ${id} order by created_at`.pipe(Effect.orDie),

      find: (admin, credentialId, { id }) =>
        sql<StoredPasskey>`
          select credential_id as id, public_key as "publicKey", counter, transports from passkey
          where ${ofAdmin(sql, admin)} and credential_id = ${credentialId} and rp_id = ${id}`.pipe(
          Effect.orDie,
          Sql.one
        ),

      use: (admin, credentialId, { askedAt, backedUp, counter }, at) =>
        sql`
          update passkey set counter = ${counter}, backed_up = ${backedUp}, last_used_at = ${at}, asked_at = ${askedAt}
          where ${ofAdmin(sql, admin)} and credential_id = ${credentialId}
            and (asked_at is null or asked_at < ${askedAt})
            and (counter < ${counter} or counter = 0 and ${counter} = 0)
          returning 1`.pipe(Effect.orDie, Sql.exists),

      count: (admin) =>
        sql<{ passkeys: number }>`select count(*)::int as passkeys from passkey where ${ofAdmin(sql, admin)}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.passkeys ?? 0)
        ),

      add: Effect.fnUntraced(function*(admin, passkey, name, party, at) {
        const id = yield* random.uuidV7()
        return yield* Sql.exists(sql`
          insert into passkey (organization_id, id, admin_id, credential_id, rp_id, public_key, counter, transports,
            name, backed_up, created_at)
          values (${admin.organizationId}, ${id}, ${admin.adminId}, ${passkey.id}, ${party.id}, ${passkey.publicKey},
            ${passkey.counter}, ${passkey.transports}::text[], ${name}, ${passkey.backedUp}, ${at})
          on conflict do nothing returning 1`)
      }, Effect.orDie),

      nameOf: (admin, id) =>
        sql<{ name: string }>`select name from passkey where ${ofAdmin(sql, admin)} and id = ${id}`.pipe(
          Effect.orDie,
          Effect.map(([found]) => found?.name ?? null)
        ),

      remove: (admin, id) =>
        sql`delete from passkey where ${ofAdmin(sql, admin)} and id = ${id} returning 1`.pipe(Effect.orDie, Sql.exists)
    })
  })
)

const codes = Layer.effect(
  StoredRecoveryCodes,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const peppers = yield* Peppers
    return StoredRecoveryCodes.of({
      left: (admin) =>
        sql<{ left: number }>`
          select count(*)::int as left from recovery_code where ${ofAdmin(sql, admin)} and used_at is null`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.left ?? 0)
        ),

      use: (admin, code, at) =>
        sql`
          update recovery_code set used_at = ${at}
          where ${ofAdmin(sql, admin)} and used_at is null
            and ${sql.in("digest", peppers.map((pepper) => codeDigest(pepper, admin, code)))}
          returning 1`.pipe(Effect.orDie, Sql.exists),

      replace: Effect.fnUntraced(function*(admin, made, at) {
        const { adminId, organizationId } = admin
        yield* post(sql`delete from recovery_code where ${ofAdmin(sql, admin)}`)
        const digests = made.map((code) => codeDigest(peppers[0], admin, Redacted.value(code).replaceAll("-", "")))
        yield* post(sql`
          insert into recovery_code (organization_id, admin_id, digest, pepper_id, created_at)
          select ${organizationId}::text, ${adminId}::uuid, digest, ${peppers[0].id}::text, ${at}::timestamptz
          from unnest(${digests}::text[]) as made (digest)`)
      })
    })
  })
)

export const layer = Layer.mergeAll(apps, passkeys, codes)
