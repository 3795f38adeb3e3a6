import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { providerSignInLifetime } from "../../../domain/Limits.ts"
import { before, now } from "../../../domain/Moments.ts"
import type { IdentityLink, IdentityProviderFacts } from "../../../domain/signin/IdentityProvider.ts"
import { CredentialEndings } from "../../../ports/credentials/CredentialEndings.ts"
import * as Ports from "../../../ports/index.ts"
import { ProviderSignInRecords } from "../../../ports/signin/ProviderClient.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/**
 * The context that the secret which the console has at a provider is sealed for: it goes nowhere but to that provider.
 */
export const sealedFor = (
  organizationId: string,
  { client_id, issuer }: Pick<IdentityProviderFacts, "client_id" | "issuer">
): ReadonlyArray<string> => [organizationId, "identity_provider", issuer, client_id]

/** The condition that an admin may sign in without the organization's provider: by a password or a passkey. */
export const maySignInHere = (sql: SqlClient.SqlClient) =>
  sql`(admin.role = 'owner' or not exists (
    select 1 from identity_provider
    where identity_provider.organization_id = admin.organization_id and required))`

/** Providers and links in SQL. */
export const layer = Layer.effect(
  Ports.IdentityProviders,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const { endSessions } = yield* CredentialEndings
    const random = yield* SecureRandom.SecureRandom

    const provider = (organizationId: string, locked: Statement.Fragment) =>
      sql<IdentityProviderFacts>`
        select issuer, client_id, required, second_factor, private_network, max_age_minutes, version
        from identity_provider where organization_id = ${organizationId} ${locked}`.pipe(Effect.orDie, Sql.one)

    const links = (organizationId: string, adminId: string | null) =>
      sql<IdentityLink>`
        select admin_id, email, issuer, subject, linked_at from identity_link
        join admin on admin.organization_id = identity_link.organization_id and admin.id = admin_id
        where identity_link.organization_id = ${organizationId} and removed_at is null
          and (${adminId}::uuid is null or admin_id = ${adminId}::uuid)
        order by lower(email collate "C"), admin_id`.pipe(Effect.orDie)

    const count = <A>(statement: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>) =>
      statement.pipe(Effect.orDie, Effect.map((rows) => rows.length))

    return Ports.IdentityProviders.of({
      find: (organizationId) => provider(organizationId, sql``),
      lock: (organizationId) => provider(organizationId, sql`for update`),

      put: Effect.fnUntraced(function*(organizationId, facts, secret, now) {
        const columns = { ...facts, version: yield* random.uuidV7(), changed_at: now }
        if (secret === null) {
          yield* sql`update identity_provider set ${sql.update(columns)} where organization_id = ${organizationId}`
          return
        }
        const row = { ...columns, client_secret_sealed: vault.seal(secret, sealedFor(organizationId, facts)) }
        yield* sql`
          insert into identity_provider ${sql.insert({ organization_id: organizationId, ...row })}
          on conflict (organization_id) do update set ${sql.update(row)}`
      }, Effect.orDie),

      remove: Effect.fnUntraced(function*(organizationId) {
        yield* sql`delete from identity_provider where organization_id = ${organizationId}`
        return yield* count(sql`delete from identity_link where organization_id = ${organizationId} returning admin_id`)
      }, Effect.orDie),

      keepLinks: (organizationId, issuer) =>
        count(sql`
          delete from identity_link where organization_id = ${organizationId} and issuer <> ${issuer}
          returning admin_id`),

      links: (organizationId) => links(organizationId, null),
      linkOf: ({ adminId, organizationId }) => Sql.one(links(organizationId, adminId)),

      link: Effect.fnUntraced(function*({ adminId, organizationId }, { issuer, subject }, now) {
        // An admin who was removed, and is invited again, is another admin.
        yield* sql`
          delete from identity_link using admin
          where identity_link.organization_id = ${organizationId} and issuer = ${issuer} and subject = ${subject}
            and admin.organization_id = identity_link.organization_id and admin.id = admin_id
            and removed_at is not null`
        const made = yield* sql`
          insert into identity_link (organization_id, admin_id, issuer, subject, linked_at)
          values (${organizationId}, ${adminId}, ${issuer}, ${subject}, ${now})
          on conflict do nothing returning admin_id`
        return made.length > 0
      }, Effect.orDie),

      unlink: ({ adminId, organizationId }) =>
        sql`delete from identity_link where organization_id = ${organizationId} and admin_id = ${adminId}`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),

      unlinked: (organizationId) =>
        count(sql`
          select 1 from admin
          where organization_id = ${organizationId} and role <> 'owner' and disabled_at is null
            and removed_at is null and joined_at is not null and not exists (
              select 1 from identity_link
              where identity_link.organization_id = admin.organization_id and admin_id = admin.id)`),

      endSessions: Effect.fnUntraced(function*(organizationId, whose) {
        const theirs = whose === "linked"
          ? sql`(select admin_id from identity_link where organization_id = ${organizationId})`
          : sql`(select id from admin where organization_id = ${organizationId} and role <> 'owner')`
        yield* sql`delete from pending_sign_in where organization_id = ${organizationId} and admin_id in ${theirs}`
        return yield* count(sql`
          delete from console_session
          where organization_id = ${organizationId} and admin_id in ${theirs} returning id`)
      }, Effect.orDie),

      endSessionsOf: endSessions
    })
  })
)

/** The records of sign-ins by providers. */
export const layerSignIns = Layer.effect(
  ProviderSignInRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    return ProviderSignInRecords.of({
      isOffered: (organizationId) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ offered: boolean }>`
            select exists (
              select 1 from identity_provider
              where ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`}) as offered`),
          ([row]) => row?.offered ?? false
        ),

      find: Effect.fnUntraced(function*(organizationId) {
        const row = yield* Sql.one(sql<IdentityProviderFacts & { readonly client_secret_sealed: string }>`
          select issuer, client_id, required, second_factor, private_network, max_age_minutes, version,
            client_secret_sealed
          from identity_provider where organization_id = ${organizationId}`)
        if (row === null) return null
        const { client_secret_sealed, ...facts } = row
        return { ...facts, secret: yield* vault.open(client_secret_sealed, sealedFor(organizationId, facts)) }
      }, Effect.orDie),

      use: Effect.fnUntraced(function*(organizationId, version, digest, at) {
        const held = yield* sql`
          select 1 from identity_provider where organization_id = ${organizationId} and version = ${version}::uuid
          for share`
        return held.length > 0 && (yield* Sql.exists(sql`
          insert into identity_sign_in (organization_id, digest, used_at)
          values (${organizationId}, ${digest}, ${at}) on conflict do nothing returning digest`))
      }, Effect.orDie),

      findLinked: Effect.fnUntraced(function*(organizationId, { issuer, subject }) {
        const found = yield* Sql.one(sql<{ adminId: string }>`
          select admin_id as "adminId" from identity_link
          join admin on admin.organization_id = identity_link.organization_id and admin.id = admin_id
          where identity_link.organization_id = ${organizationId} and issuer = ${issuer} and subject = ${subject}
            and disabled_at is null and removed_at is null and joined_at is not null
          for share of admin`)
        return found === null ? null : { organizationId, ...found }
      }, Effect.orDie),

      lockAdmin: ({ adminId, organizationId }) =>
        sql`
          select 1 from admin where organization_id = ${organizationId} and id = ${adminId} for no key update`.pipe(
          Effect.orDie,
          Effect.asVoid
        )
    })
  })
)

/** Deletes expired sign-ins. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ended = before(yield* now, providerSignInLifetime)
  yield* Tenant.directory(sql)(sql`delete from identity_sign_in where used_at <= ${ended}`)
})
