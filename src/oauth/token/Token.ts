/** The token endpoint (RFC 6749, section 3.2). */
import { Effect, Redacted } from "effect"
import type { ClientOrigin, OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import { redeemCode } from "./authorizationCode.ts"
import { authenticateClient, mayHaveTokens } from "./clientAuthentication.ts"
import { refresh } from "./refreshToken.ts"
import { refusedFromMemory } from "./tokenLimit.ts"

export type { IssuedTokens } from "./issue.ts"

/** Issues tokens for a code or a refresh token; no other grant exists. */
export const token = Effect.fnUntraced(function*(
  issuer: OAuthIssuer,
  authorization: string | undefined,
  parameters: Parameters,
  origin: ClientOrigin
) {
  if (parameters.repeated.some((name) => name !== "resource")) {
    return yield* refuse("invalid_request", "A parameter is given twice.")
  }
  const grantType = parameters.get("grant_type")
  if (grantType === undefined) return yield* refuse("invalid_request", "grant_type is required.")
  if (grantType !== "authorization_code" && grantType !== "refresh_token") {
    return yield* refuse("unsupported_grant_type", "The grant_type is authorization_code or refresh_token.")
  }
  const client = Effect.tap(authenticateClient(issuer, authorization, parameters), mayHaveTokens)
  return yield* grantType === "authorization_code"
    ? Effect.flatMap(client, (known) => redeemCode(known, parameters, origin))
    : refusedFromMemory(
      Redacted.make(
        JSON.stringify([
          issuer.baseUrl,
          authorization,
          ...["client_id", "client_secret", "refresh_token"].map(parameters.get)
        ])
      ),
      Effect.flatMap(client, (known) => refresh(known, parameters, origin))
    )
})
