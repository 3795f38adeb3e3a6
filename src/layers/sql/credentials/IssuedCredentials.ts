import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import type { ApiKeyFacts } from "../../../domain/credentials/Credential.ts"
import { InvalidApiKey } from "../../../domain/Failure.ts"
import type { Caller } from "../../../domain/people/Access.ts"
import { IssuedCredentials, type NewApiKey, NewApiKeyId } from "../../../ports/credentials/IssuedCredentials.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import { ApiKeys } from "../../crypto/credentials/ApiKeys.ts"
import { disconnect } from "../oauth/OAuthGrants.ts"
import { lockFamily, revokeKey } from "./CredentialEndings.ts"

interface Parent {
  readonly id: string
  readonly root: string
  readonly expires_at: Date | null
}

/** Keys and connections in the database, within the operation's transaction. */
export const layer = Layer.effect(
  IssuedCredentials,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const keys = yield* ApiKeys
    const random = yield* SecureRandom.SecureRandom

    /** The key that the caller makes a key with, as it is now; it and its admin stay so for the transaction. */
    const parentOf = Effect.fnUntraced(
      function*({ adminId, credential, organizationId }: Caller["Service"], now: Date) {
        yield* lockFamily(sql, organizationId, credential.id, "share")
        const [parent] = yield* Effect.orDie(sql<Parent>`
        select api_key.id, coalesce(root_id, api_key.id) as root, expires_at from api_key
        join admin on admin.organization_id = api_key.organization_id and admin.id = api_key.admin_id
        where api_key.organization_id = ${organizationId} and api_key.id = ${credential.id}
          and api_key.admin_id = ${adminId} and revoked_at is null and (expires_at is null or expires_at > ${now})
          and (password_changed_at is null or password_changed_at <= api_key.created_at)`)
        return parent ?? (yield* new InvalidApiKey({}))
      }
    )

    /** True if the console's session goes on. */
    const session = Effect.fnUntraced(function*({ credential, organizationId }: Caller["Service"]) {
      const found = yield* Effect.orDie(sql`
        select 1 from console_session where organization_id = ${organizationId} and id = ${credential.id} for share`)
      if (found.length === 0) return yield* new InvalidApiKey({})
    })

    const earlier = (one: Date | null, other: Date | null): Date | null =>
      one === null || other !== null && other < one ? other : one

    /** Makes the key; one that is made with a key ends with it. */
    const issue = Effect.fnUntraced(
      function*(
        { adminId, organizationId }: AdminRef,
        { expiresAt, label, scopes }: NewApiKey,
        now: Date,
        parent: Parent | null
      ) {
        const expires = parent === null ? expiresAt : earlier(expiresAt, parent.expires_at)
        const secret = yield* keys.make
        const id = (yield* NewApiKeyId) ?? (yield* random.uuidV7())
        const made = yield* Effect.orDie(sql`insert into api_key ${
          sql.insert({
            organization_id: organizationId,
            id,
            admin_id: adminId,
            parent_id: parent === null ? null : parent.id,
            root_id: parent === null ? null : parent.root,
            label,
            scopes,
            ...keys.digest(secret),
            created_at: now,
            expires_at: expires
          })
        } on conflict (organization_id, id) do nothing returning id`)
        if (made.length === 0) return yield* new InvalidApiKey({})
        return { id, secret, expiresAt: expires }
      }
    )

    const facts = (organizationId: string, which: Statement.Fragment) =>
      Effect.orDie(sql<ApiKeyFacts>`
        select k.id, k.label, a.email, k.scopes, k.created_at, k.last_used_at, k.expires_at, k.revoked_at,
          a.disabled_at is not null or coalesce(a.password_changed_at > k.created_at, false) as stopped
        from api_key k join admin a on a.organization_id = k.organization_id and a.id = k.admin_id
        where k.organization_id = ${organizationId} and ${which}
        order by k.created_at desc, k.id desc`)

    return IssuedCredentials.of({
      createApiKey: Effect.fnUntraced(function*(caller, { expiresAt, label, scopes }, now) {
        const { adminId, credential, organizationId } = caller
        const [admin] = yield* Effect.orDie(sql<{ email: string }>`
          select email from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
          for share`)
        if (admin === undefined) return yield* new InvalidApiKey({})
        const parent = credential.kind === "api_key" ? yield* parentOf(caller, now) : null
        if (caller.via === "console") yield* session(caller)
        const issued = yield* issue({ organizationId, adminId }, { expiresAt, label, scopes }, now, parent)
        return { ...issued, email: admin.email }
      }),
      issueApiKey: (admin, key, now) => Effect.orDie(issue(admin, key, now, null)),
      apiKeys: (organizationId) => facts(organizationId, sql`true`),
      findApiKey: (organizationId, id) =>
        Effect.map(facts(organizationId, sql`k.id::text = ${id}`), ([found]) => found ?? null),
      lockApiKey: (organizationId, id) =>
        Effect.andThen(
          lockFamily(sql, organizationId, id, "update"),
          sql<{ revoked: boolean }>`
            select revoked_at is not null as revoked from api_key
            where organization_id = ${organizationId} and id = ${id}`
        ).pipe(Effect.orDie, Effect.map(([row]) => row ?? { revoked: false })),
      revokeApiKey: (organizationId, id, now) =>
        Effect.map(revokeKey(sql, organizationId, id, now), (count) => count - 1),
      lockConnection: (organizationId, id) =>
        sql<{ revoked: boolean }>`
          select revoked_at is not null as revoked from ai_connection
          where organization_id = ${organizationId} and id = ${id} for update`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? { revoked: false })
        ),
      revokeConnection: (organizationId, id, now) => disconnect(sql, organizationId, id, now)
    })
  })
)
