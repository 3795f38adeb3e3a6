import { Clock, Effect, Option, Redacted } from "effect"
import { resourceAddress } from "../../domain/oauth/OAuth.ts"
import type { ClientOrigin, OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { OAuthGrants, OAuthSecrets, ResourceServers } from "../../ports/oauth/OAuthPorts.ts"
import { FailedAttempts, RateLimiter } from "../../ports/RateLimits.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import { basicOf } from "./clientAuthentication.ts"

const unknown = refuse("invalid_client", "The resource server is unknown, or did not prove who it is.")

/** The resource server of the request; guessed secrets are rate limited like guessed keys. */
const authenticate = Effect.fnUntraced(function*(authorization: string | undefined, ip: string | null) {
  const secrets = yield* OAuthSecrets
  const claim = Option.getOrUndefined(basicOf(authorization ?? ""))
  const digest = claim === undefined ? undefined : secrets.digest(claim.secret).digest
  const server = (yield* ResourceServers).find(({ id, secret }) =>
    id === claim?.id && secrets.digest(secret).digest === digest
  )
  if (server !== undefined) return server
  if (ip !== null) yield* (yield* FailedAttempts).count(ip, null)
  return yield* unknown
})

/**
 * Reports to a resource server of the deployment whether an access token is active at its own resource (RFC 7662); any
 * other token, whatever it is, is just not active.
 */
export const introspect = Effect.fnUntraced(function*(
  issuer: OAuthIssuer,
  authorization: string | undefined,
  parameters: Parameters,
  origin: ClientOrigin
) {
  const server = yield* authenticate(authorization, origin.ip)
  yield* (yield* RateLimiter).consume(`introspection ${server.id}`)
  if (parameters.repeated.length > 0) return yield* refuse("invalid_request", "A parameter is given twice.")
  const text = parameters.get("token")
  if (text === undefined) return yield* refuse("invalid_request", "token is required.")
  const token = Redacted.make(text)
  const secrets = yield* OAuthSecrets
  if (!secrets.isWellFormed("access", token)) return { active: false }
  const now = new Date(yield* Clock.currentTimeMillis)
  const resource = resourceAddress(issuer.baseUrl, server.resource)
  const found = yield* (yield* OAuthGrants).inspect(secrets.digests(token), resource, now)
  if (found === null || (issuer.organizationId !== null && issuer.organizationId !== found.organizationId)) {
    return { active: false }
  }
  const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
  return {
    active: true,
    token_type: "Bearer",
    scope: found.scopes.join(" "),
    client_id: found.clientId,
    sub: found.adminId,
    organization_id: found.organizationId,
    connection_id: found.connectionId,
    aud: resource,
    iss: issuer.baseUrl,
    iat: seconds(found.createdAt),
    exp: seconds(found.expiresAt)
  }
})
