import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as crypto from "node:crypto"
import { recoveryCode } from "../../../domain/signin/SecondFactor.ts"
import { SignInSecrets } from "../../../ports/signin/SignInSecrets.ts"
import { Vault } from "../Vault.ts"

/** Secrets by the service's randomness, sealed by its vault. */
export const layer = Layer.effect(
  SignInSecrets,
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const { open, seal } = yield* Vault
    return SignInSecrets.of({
      newSecret: Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url")),
      newRecoveryCode: Effect.map(random.randomBytes(10), recoveryCode),
      digest: (text) => crypto.createHash("sha256").update(text).digest("hex"),
      seal,
      open
    })
  })
)
