import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { form } from "./ApiKeys.ts"
import { hmac, Peppers } from "./Peppers.ts"

/** The tokens of invitations: 256 random bits in the form of a key, kept as a digest under the pepper. */
export class InvitationTokens extends Context.Service<InvitationTokens, {
  readonly make: Effect.Effect<Redacted.Redacted>
  isWellFormed(token: Redacted.Redacted): boolean
  /** What is kept of a new token. */
  digest(token: Redacted.Redacted): { readonly invitation_digest: string; readonly invitation_pepper_id: string }
  /** Every digest under which the token may have been kept. */
  digests(token: Redacted.Redacted): ReadonlyArray<string>
}>()("org-security-console/layers/crypto/InvitationTokens") {
  static readonly layer = Layer.effect(
    InvitationTokens,
    Effect.gen(function*() {
      const peppers = yield* Peppers
      const random = yield* SecureRandom.SecureRandom
      const { matches, write } = form("inv_")
      return {
        make: Effect.map(random.randomBytes(32), (bytes) => write(bytes)),
        isWellFormed: matches,
        digest: (token) => ({
          invitation_digest: hmac(peppers[0], Redacted.value(token)),
          invitation_pepper_id: peppers[0].id
        }),
        digests: (token) => peppers.map((pepper) => hmac(pepper, Redacted.value(token)))
      }
    })
  )
}
