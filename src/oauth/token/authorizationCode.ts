import { Clock, Effect, Redacted, Result } from "effect"
import type { ClientOrigin } from "../../domain/oauth/OAuthRecords.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { recordConnection } from "../ConnectionEntries.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import type { Authenticated } from "./clientAuthentication.ts"
import { inConnection, invalidGrant } from "./inConnection.ts"
import { issue } from "./issue.ts"
import { checkTarget } from "./tokenResource.ts"

const verifier = /^[A-Za-z0-9._~-]{43,128}$/

/**
 * Redeems a code once (RFC 6749, section 4.1.3, and RFC 7636); its second use disconnects.
 *
 * A wrong verifier, address or resource does not use it up.
 */
export const redeemCode = Effect.fnUntraced(
  function*(client: Authenticated, parameters: Parameters, origin: ClientOrigin) {
    const secrets = yield* OAuthSecrets
    const grants = yield* OAuthGrants
    const text = parameters.get("code")
    if (text === undefined) return yield* refuse("invalid_request", "code is required.")
    const secret = Redacted.make(text)
    if (!secrets.isWellFormed("code", secret)) return yield* invalidGrant
    const digests = secrets.digests(secret)
    const place = yield* grants.locate("code", digests)
    if (place === null) return yield* invalidGrant
    const { connectionId, organizationId } = place
    return yield* inConnection(client, place, (connection) =>
      Effect.gen(function*() {
        const now = new Date(yield* Clock.currentTimeMillis)
        const code = yield* grants.code(organizationId, connectionId, digests)
        if (code === null) return Result.fail(invalidGrant)
        if (code.redeemedAt !== null) {
          yield* grants.disconnect(organizationId, connectionId, now)
          yield* recordConnection("authorization_code.reused", "service", organizationId, connection, origin)
          return Result.fail(invalidGrant)
        }
        if (code.expiresAt <= now) return Result.fail(invalidGrant)
        const redirectUri = parameters.get("redirect_uri")
        if (redirectUri !== undefined && redirectUri !== code.redirectUri) return Result.fail(invalidGrant)
        const proof = parameters.get("code_verifier") ?? ""
        if (!verifier.test(proof) || secrets.challenge(Redacted.make(proof)) !== code.challenge) {
          return Result.fail(invalidGrant)
        }
        const target = checkTarget(parameters, connection)
        if (Result.isFailure(target)) return Result.fail(target.failure)
        yield* grants.redeem(organizationId, code, now)
        return Result.succeed(
          yield* issue(organizationId, connection, code.scopes, code.scopes, { secret, unlock: code.unlock })
        )
      }))
  }
)
