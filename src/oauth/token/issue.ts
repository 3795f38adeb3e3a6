import { Clock, Duration, Effect, type Redacted } from "effect"
import { accessTokenLifetime, refreshTokenLifetime } from "../../domain/oauth/OAuth.ts"
import type { OAuthConnection } from "../../domain/oauth/OAuthRecords.ts"
import type { OrganizationId, Scope } from "../../domain/people/Access.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"

/** The tokens that a client gets (RFC 6749, section 5.1). */
export interface IssuedTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted
  /** In seconds. */
  readonly expiresIn: number
  readonly scopes: ReadonlyArray<Scope>
}

/**
 * Issues an access token for the scopes and a refresh token for the whole grant, within the organization's transaction;
 * the connection lasts as long as the refresh token.
 */
export const issue = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  connection: OAuthConnection,
  scopes: ReadonlyArray<Scope>,
  grant: ReadonlyArray<Scope>
) {
  const grants = yield* OAuthGrants
  const secrets = yield* OAuthSecrets
  const now = yield* Clock.currentTimeMillis
  const createdAt = new Date(now)
  const after = (lifetime: Duration.Duration) => new Date(now + Duration.toMillis(lifetime))
  const expiresAt = after(refreshTokenLifetime)
  const generation = connection.generation + 1
  const accessToken = yield* secrets.make("access")
  const refreshToken = yield* secrets.makeRefresh({ connectionId: connection.id, generation, expiresAt })
  yield* grants.forgetExpired(organizationId, connection.id, createdAt)
  yield* grants.addToken(organizationId, connection.id, {
    kind: "access",
    digest: secrets.digest(accessToken),
    generation: null,
    scopes,
    createdAt,
    expiresAt: after(accessTokenLifetime)
  })
  yield* grants.addToken(organizationId, connection.id, {
    kind: "refresh",
    digest: secrets.digest(refreshToken),
    generation,
    scopes: grant,
    createdAt,
    expiresAt
  })
  yield* grants.prolong(organizationId, connection.id, generation, expiresAt)
  return {
    accessToken,
    refreshToken,
    expiresIn: Duration.toSeconds(accessTokenLifetime),
    scopes
  } satisfies IssuedTokens
})
