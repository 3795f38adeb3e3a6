import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { passwordResetLifetime } from "../../../domain/Limits.ts"
import * as Ports from "../../../ports/index.ts"
import { ResetTokens } from "../../crypto/signin/LinkTokens.ts"

/** Links in SQL, by the digests of their tokens. */
export const layer = Layer.effect(
  Ports.PasswordResets,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const tokens = yield* ResetTokens
    return Ports.PasswordResets.of({
      make: Effect.fnUntraced(function*({ adminId, organizationId }, { knownBrowser, mailed }, now) {
        const token = yield* tokens.make
        const { digest, pepperId } = tokens.digest(token)
        const expiresAt = new Date(now.getTime() + Duration.toMillis(passwordResetLifetime))
        yield* sql`insert into password_reset ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            admin_id: adminId,
            digest,
            pepper_id: pepperId,
            known_browser: knownBrowser,
            mailed,
            created_at: now,
            expires_at: expiresAt
          })
        }`
        return { token, expiresAt }
      }, Effect.orDie)
    })
  })
)
