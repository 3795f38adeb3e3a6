import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { IdentityLink, IdentityProviderFacts } from "../../../domain/signin/IdentityProvider.ts"
import * as Ports from "../../../ports/index.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Endings from "../credentials/CredentialEndings.ts"

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
    const random = yield* SecureRandom.SecureRandom

    const provider = (organizationId: string, locked: Statement.Fragment) =>
      sql<IdentityProviderFacts>`
        select issuer, client_id, required, second_factor, private_network, max_age_minutes, version
        from identity_provider where organization_id = ${organizationId} ${locked}`.pipe(
        Effect.orDie,
        Effect.map(([found]) => found ?? null)
      )

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
      linkOf: ({ adminId, organizationId }) => Effect.map(links(organizationId, adminId), ([found]) => found ?? null),

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

      endSessionsOf: ({ adminId, organizationId }, kept) => Endings.endSessions(sql, organizationId, adminId, kept)
    })
  })
)
