import { Clock, Duration, Effect, type Redacted } from "effect"
import type { OrganizationId, Scope } from "../../domain/Access.ts"
import { accessTokenLifetime, refreshTokenLifetime } from "../../domain/OAuth.ts"
import { OAuthGrants, OAuthSecrets } from "../Ports.ts"

/** What a client gets (RFC 6749, section 5.1). */
export interface Issued {
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
  connectionId: string,
  scopes: ReadonlyArray<Scope>,
  grant: ReadonlyArray<Scope>
) {
  const grants = yield* OAuthGrants
  const secrets = yield* OAuthSecrets
  const now = yield* Clock.currentTimeMillis
  const createdAt = new Date(now)
  const after = (lifetime: Duration.Duration) => new Date(now + Duration.toMillis(lifetime))
  const accessToken = yield* secrets.make("access")
  const refreshToken = yield* secrets.make("refresh")
  yield* grants.addToken(organizationId, connectionId, {
    kind: "access",
    digest: secrets.digest(accessToken),
    scopes,
    createdAt,
    expiresAt: after(accessTokenLifetime)
  })
  yield* grants.addToken(organizationId, connectionId, {
    kind: "refresh",
    digest: secrets.digest(refreshToken),
    scopes: grant,
    createdAt,
    expiresAt: after(refreshTokenLifetime)
  })
  yield* grants.prolong(organizationId, connectionId, after(refreshTokenLifetime))
  return { accessToken, refreshToken, expiresIn: Duration.toSeconds(accessTokenLifetime), scopes } satisfies Issued
})
