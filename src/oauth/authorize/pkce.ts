import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

const digest = /^[A-Za-z0-9_-]{43}$/

/** The challenge that the verifier at the token endpoint has to meet: S256 alone (PKCE, RFC 7636). */
export const checkChallenge = (parameters: Parameters) => {
  const challenge = parameters.get("code_challenge")
  return challenge === undefined
    ? Effect.fail(refuse("invalid_request", "code_challenge is required."))
    : parameters.get("code_challenge_method") !== "S256"
    ? Effect.fail(refuse("invalid_request", "The code_challenge_method is S256."))
    : !digest.test(challenge)
    ? Effect.fail(refuse("invalid_request", "code_challenge is not the base64url of a SHA-256."))
    : Effect.succeed(challenge)
}
