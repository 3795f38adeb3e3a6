import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { IssuedCredentials } from "../../operations/IssuedCredentials.ts"
import { ApiKeys } from "../crypto/ApiKeys.ts"
import { disconnect } from "./OAuthGrants.ts"

/** Keys and connections in the database, within the operation's transaction. */
export const layer = Layer.effect(
  IssuedCredentials,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const keys = yield* ApiKeys
    const random = yield* SecureRandom.SecureRandom
    return IssuedCredentials.of({
      createApiKey: Effect.fnUntraced(function*(caller, { expiresAt, label, scopes }, now) {
        const secret = yield* keys.make
        const id = yield* random.uuidV7()
        yield* Effect.orDie(sql`insert into api_key ${
          sql.insert({
            organization_id: caller.organizationId,
            id,
            admin_id: caller.adminId,
            label,
            scopes,
            ...keys.digest(secret),
            created_at: now,
            expires_at: expiresAt
          })
        }`)
        return { id, secret }
      }),
      lockApiKey: (organizationId, id) =>
        sql`select 1 from api_key where organization_id = ${organizationId} and id = ${id} for update`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),
      revokeApiKey: (organizationId, id, now) =>
        sql`update api_key set revoked_at = ${now} where organization_id = ${organizationId} and id = ${id}`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),
      lockConnection: (organizationId, id) =>
        sql`select 1 from ai_connection where organization_id = ${organizationId} and id = ${id} for update`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),
      revokeConnection: (organizationId, id, now) => disconnect(sql, organizationId, id, now)
    })
  })
)
