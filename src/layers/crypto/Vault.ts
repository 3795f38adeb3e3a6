/** Secrets of accounts that the service must be able to use again, sealed at rest. */
import { Context, Effect, Layer, Redacted } from "effect"
import * as crypto from "node:crypto"
import { type Pepper, Peppers } from "./Peppers.ts"

const nonceLength = 12
const tagLength = 16

const sealingKey = (pepper: Pepper): Uint8Array =>
  new Uint8Array(crypto.hkdfSync("sha256", Redacted.value(pepper.key), "", "vault/1", 32))

/**
 * AES-256-GCM under a key derived from the pepper. `context` says what the secret belongs to: sealed for one account, it
 * does not open for another.
 */
export class Vault extends Context.Service<Vault, {
  seal(secret: Redacted.Redacted, context: ReadonlyArray<string>): string
  /** Dies when the text was sealed for something else, changed, or sealed under a pepper that is gone. */
  open(sealed: string, context: ReadonlyArray<string>): Effect.Effect<Redacted.Redacted>
}>()("org-security-console/layers/crypto/Vault") {
  static readonly layer = Layer.effect(
    Vault,
    Effect.gen(function*() {
      const peppers = yield* Peppers
      return {
        seal: (secret, context) => {
          const nonce = crypto.randomBytes(nonceLength)
          const cipher = crypto.createCipheriv("aes-256-gcm", sealingKey(peppers[0]), nonce)
          cipher.setAAD(Buffer.from(JSON.stringify(context)))
          const text = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final()])
          return `${peppers[0].id}.${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url")}`
        },
        open: (sealed, context) =>
          Effect.sync(() => {
            const [id, body = ""] = sealed.split(".")
            const pepper = peppers.find((known) => known.id === id)
            if (pepper === undefined) {
              throw new Error(`A secret is sealed under the pepper ${id}, which is not configured`)
            }
            const bytes = Buffer.from(body, "base64url")
            const decipher = crypto.createDecipheriv(
              "aes-256-gcm",
              sealingKey(pepper),
              bytes.subarray(0, nonceLength),
              { authTagLength: tagLength }
            )
            decipher.setAAD(Buffer.from(JSON.stringify(context)))
            decipher.setAuthTag(bytes.subarray(-tagLength))
            const text = decipher.update(bytes.subarray(nonceLength, -tagLength))
            return Redacted.make(Buffer.concat([text, decipher.final()]).toString("utf8"))
          })
      }
    })
  )
}
