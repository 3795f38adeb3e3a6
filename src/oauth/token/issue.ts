import { Clock, Duration, Effect, type Redacted, Result } from "effect"
import { eraseSeed } from "../../archive/KeyWraps.ts"
import { openStored, storedUnlockRef, storeSeed } from "../../archive/StoredUnlocks.ts"
import { accessTokenLifetime, refreshTokenLifetime } from "../../domain/oauth/OAuth.ts"
import type { OAuthConnection } from "../../domain/oauth/OAuthRecords.ts"
import type { OrganizationId, Scope } from "../../domain/people/Access.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"

/** The tokens that a client gets (RFC 6749, section 5.1). */
export interface IssuedTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted
  /** In seconds. */
  readonly expiresIn: number
  readonly scopes: ReadonlyArray<Scope>
}

/** A code or token that is exchanged, and what it keeps of the archive's key. */
export interface Exchanged {
  readonly secret: Redacted.Redacted
  readonly unlock: Uint8Array | null
}

interface Sealings {
  readonly access: Uint8Array | null
  readonly refresh: Uint8Array | null
}

/** The part of the archive's key that the new tokens keep; nothing where the archive password is another one by now. */
const sealings = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  connectionId: string,
  { secret, unlock }: Exchanged,
  tokens: { readonly access: Redacted.Redacted | null; readonly refresh: Redacted.Redacted }
) {
  const none: Sealings = { access: null, refresh: null }
  if (unlock === null) return none
  const keys = yield* (yield* ArchiveKeys).wrapped(organizationId)
  const opened = yield* Effect.result(openStored(keys, connectionId, secret, unlock))
  if (Result.isFailure(opened)) return none
  const { key, seed } = opened.success
  const ref = storedUnlockRef(key, connectionId)
  const sealed: Sealings = {
    access: tokens.access === null ? null : yield* storeSeed(ref, tokens.access, seed),
    refresh: yield* storeSeed(ref, tokens.refresh, seed)
  }
  return yield* Effect.as(eraseSeed(seed), sealed)
})

/**
 * Issues an access token for the scopes and a refresh token for the whole grant, within the organization's transaction;
 * the connection lasts as long as the refresh token.
 */
export const issue = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  connection: OAuthConnection,
  scopes: ReadonlyArray<Scope>,
  grant: ReadonlyArray<Scope>,
  exchanged: Exchanged
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
  const unlocks = yield* sealings(organizationId, connection.id, exchanged, {
    access: scopes.includes("archive:read") ? accessToken : null,
    refresh: refreshToken
  })
  yield* grants.forgetExpired(organizationId, connection.id, createdAt)
  yield* grants.addToken(organizationId, connection.id, {
    kind: "access",
    digest: secrets.digest(accessToken),
    generation: null,
    scopes,
    createdAt,
    expiresAt: after(accessTokenLifetime),
    unlock: unlocks.access
  })
  yield* grants.addToken(organizationId, connection.id, {
    kind: "refresh",
    digest: secrets.digest(refreshToken),
    generation,
    scopes: grant,
    createdAt,
    expiresAt,
    unlock: unlocks.refresh
  })
  yield* grants.prolong(organizationId, connection.id, generation, expiresAt)
  return {
    accessToken,
    refreshToken,
    expiresIn: Duration.toSeconds(accessTokenLifetime),
    scopes
  } satisfies IssuedTokens
})
