/** From a bearer token to the caller, for every transport that carries one. */
import { Context, Effect, type Redacted } from "effect"
import type { InvalidApiKey, InvalidToken, RateLimited, ServiceUnavailable } from "../domain/Failure.ts"
import { type Resource, resourceAddress } from "../domain/oauth/OAuth.ts"
import { Caller, type Via } from "../domain/people/Access.ts"
import { Entrance } from "../ports/credentials/Authentication.ts"
import { Credentials } from "../ports/credentials/Credentials.ts"
import { AnonymousRequests, FailedAttempts } from "../ports/RateLimits.ts"
import type { Site } from "./Site.ts"

/** The facts that a request carries besides its token. */
export interface RequestOrigin {
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
}

/** The ways that a credential is refused. */
export type EntryFailure = InvalidApiKey | InvalidToken | RateLimited | ServiceUnavailable

/**
 * The caller of the token at this resource of the site.
 *
 * Wrong, revoked, expired, unknown and missing tokens fail alike with `InvalidApiKey`, those in the form of an access
 * token with `InvalidToken`, and too many of them from one address with `RateLimited`, before the database is queried.
 */
export const authenticate = (
  token: Redacted.Redacted,
  site: Site,
  resource: Resource,
  origin: RequestOrigin
): Effect.Effect<Caller["Service"], EntryFailure, Credentials | Entrance | FailedAttempts> =>
  Effect.withFiber(({ context }) => {
    const entrance = Context.getUnsafe(context, Entrance)
    const attempts = Context.getUnsafe(context, FailedAttempts)
    const wellFormed = Context.getUnsafe(context, Credentials).isWellFormed(token)
    const entered = Effect.matchEffect(
      entrance.enter(token, resourceAddress(site.baseUrl, resource), site.organizationId),
      {
        onSuccess: (known) => Effect.as(attempts.right(token), Caller.of({ ...known, ...origin })),
        onFailure: (failure): Effect.Effect<never, EntryFailure> =>
          failure._tag === "service_unavailable" || origin.ip === null
            ? Effect.fail(failure)
            : Effect.andThen(attempts.count(origin.ip, wellFormed ? token : null), Effect.fail(failure))
      }
    )
    return origin.ip !== null && wellFormed ? Effect.andThen(attempts.admit(origin.ip, token), entered) : entered
  })

/** Counts a request that carries no bearer token for its address, before anything is done for it. */
export const admitAnonymous = (ip: string | null) =>
  ip === null ? Effect.void : AnonymousRequests.use((requests) => requests.admit(ip))
