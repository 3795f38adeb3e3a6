import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as crypto from "node:crypto"
import { Passkeys } from "../../../ports/security/AccountPasskeys.ts"

const idLength = 32

/** Keys on P-256 of the service itself, as PKCS #8. */
export const layer = Layer.effect(
  Passkeys,
  Effect.map(SecureRandom.SecureRandom, (random) => ({
    make: Effect.map(random.randomBytes(idLength), (id) => {
      const { privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" })
      return {
        id: Buffer.from(id).toString("base64url"),
        key: Redacted.make(privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"))
      }
    })
  }))
)
