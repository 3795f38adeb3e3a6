/** The tokens of links that work once: 256 random bits in the form of a key, kept as a digest under the pepper. */
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { form } from "../credentials/ApiKeys.ts"
import { hmac, Peppers } from "../Peppers.ts"

interface LinkTokens {
  readonly make: Effect.Effect<Redacted.Redacted>
  isWellFormed(token: Redacted.Redacted): boolean
  /** The stored form of a new token. */
  digest(token: Redacted.Redacted): { readonly digest: string; readonly pepperId: string }
  /** Every digest under which the token may have been kept. */
  digests(token: Redacted.Redacted): ReadonlyArray<string>
}

const tokens = (start: string): Effect.Effect<LinkTokens, never, Peppers | SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    const peppers = yield* Peppers
    const random = yield* SecureRandom.SecureRandom
    const { matches, write } = form(start)
    return {
      make: Effect.map(random.randomBytes(32), (bytes) => write(bytes)),
      isWellFormed: matches,
      digest: (token) => ({ digest: hmac(peppers[0], Redacted.value(token)), pepperId: peppers[0].id }),
      digests: (token) => peppers.map((pepper) => hmac(pepper, Redacted.value(token)))
    }
  })

/** The tokens of invitations. */
export class InvitationTokens extends Context.Service<InvitationTokens, LinkTokens>()(
  "org-security-console/layers/crypto/signin/LinkTokens/InvitationTokens"
) {
  static readonly layer = Layer.effect(InvitationTokens, tokens("inv_"))
}

/** The tokens of password resets. */
export class ResetTokens
  extends Context.Service<ResetTokens, LinkTokens>()("org-security-console/layers/crypto/signin/LinkTokens/ResetTokens")
{
  static readonly layer = Layer.effect(ResetTokens, tokens("rst_"))
}
