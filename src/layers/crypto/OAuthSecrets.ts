import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as crypto from "node:crypto"
import { OAuthSecrets, type SecretKind } from "../../oauth/Ports.ts"
import { form } from "./ApiKeys.ts"
import { hmac, Peppers } from "./Peppers.ts"

/** What stands between the prefix and the secret, by kind: code, access token, refresh token, client secret. */
const marks: Readonly<Record<SecretKind, string>> = { code: "oac", access: "oat", refresh: "ort", client: "ocs" }

/** Secrets in the form of API keys: the prefix, what it is, 256 random bits, and a checksum. */
export const layer = (prefix: string) =>
  Layer.effect(
    OAuthSecrets,
    Effect.gen(function*() {
      const peppers = yield* Peppers
      const random = yield* SecureRandom.SecureRandom
      const formOf = (kind: SecretKind) => form(`${prefix}_${marks[kind]}_`)
      return OAuthSecrets.of({
        make: (kind) => Effect.map(random.randomBytes(32), (bytes) => formOf(kind).write(bytes)),
        isWellFormed: (kind, secret) => formOf(kind).matches(secret),
        digest: (secret) => ({ digest: hmac(peppers[0], Redacted.value(secret)), pepper_id: peppers[0].id }),
        digests: (secret) => peppers.map((pepper) => hmac(pepper, Redacted.value(secret))),
        challenge: (verifier) => crypto.createHash("sha256").update(Redacted.value(verifier)).digest("base64url"),
        newId: random.uuidV7()
      })
    })
  )
