import { Clock, Effect, Redacted, Result } from "effect"
import type { ClientOrigin, Token } from "../../domain/oauth/OAuthRecords.ts"
import { Scope } from "../../domain/people/Access.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { recordConnection } from "../ConnectionEntries.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import type { Authenticated } from "./clientAuthentication.ts"
import { inConnection, invalidGrant } from "./inConnection.ts"
import { issue } from "./issue.ts"
import { checkLimit } from "./tokenLimit.ts"
import { checkTarget } from "./tokenResource.ts"

/** The scopes of the new access token: the whole grant, or the requested part of it. */
const narrowed = (parameters: Parameters, token: Token) => {
  const asked = (parameters.get("scope") ?? "").split(" ").filter((scope) => scope !== "" && scope !== "offline_access")
  if (asked.length === 0) return Result.succeed(token.scopes)
  const scopes = Scope.literals.filter((scope) => asked.includes(scope) && token.scopes.includes(scope))
  return asked.every((scope) => scopes.some((granted) => granted === scope))
    ? Result.succeed(scopes)
    : Result.fail(refuse("invalid_scope", "A scope is asked for that was not granted."))
}

/**
 * Exchanges a refresh token for a new pair (RFC 6749, section 6), once: presenting a used one disconnects the whole
 * connection (specification, section 5.2).
 *
 * A used one of whatever age is known by what it says of itself under its seal. A wrong resource or scope, and a limit
 * that is reached, do not use it up.
 */
export const refresh = Effect.fnUntraced(
  function*(client: Authenticated, parameters: Parameters, origin: ClientOrigin) {
    const secrets = yield* OAuthSecrets
    const grants = yield* OAuthGrants
    const text = parameters.get("refresh_token")
    if (text === undefined) return yield* refuse("invalid_request", "refresh_token is required.")
    const secret = Redacted.make(text)
    if (!secrets.isWellFormed("refresh", secret)) return yield* invalidGrant
    const digests = secrets.digests(secret)
    const reference = secrets.reference(secret)
    const place = yield* reference === null
      ? grants.locate("token", digests)
      : grants.locateConnection(reference.connectionId)
    if (place === null) return yield* invalidGrant
    const { connectionId, organizationId } = place
    return yield* inConnection(client, place, (connection) =>
      Effect.gen(function*() {
        const now = new Date(yield* Clock.currentTimeMillis)
        const token = yield* grants.token(organizationId, connectionId, digests)
        const expiresAt = token?.expiresAt ?? reference?.expiresAt
        if (expiresAt === undefined || expiresAt <= now) return Result.fail(invalidGrant)
        // One that is not there yet belongs to a later state of a database that was restored: it is no replay.
        if (token === null && reference !== null && reference.generation >= connection.generation) {
          return Result.fail(invalidGrant)
        }
        if (token === null || token.usedAt !== null) {
          yield* grants.disconnect(organizationId, connectionId, now)
          yield* recordConnection("refresh_token.reused", "service", organizationId, connection, origin)
          return Result.fail(invalidGrant)
        }
        const target = checkTarget(parameters, connection)
        if (Result.isFailure(target)) return Result.fail(target.failure)
        const scopes = narrowed(parameters, token)
        if (Result.isFailure(scopes)) return Result.fail(scopes.failure)
        const limit = yield* checkLimit(organizationId, connectionId)
        if (Result.isFailure(limit)) return Result.fail(limit.failure)
        yield* grants.use(organizationId, token, now)
        return Result.succeed(
          yield* issue(organizationId, connection, scopes.success, token.scopes, { secret, unlock: token.unlock })
        )
      }))
  }
)
