/** From a bearer token to the caller, for every transport that carries one. */
import { Effect, type Redacted } from "effect"
import { Caller, type Via } from "../domain/Access.ts"
import { type Resource, resourceAddress } from "../domain/OAuth.ts"
import { Credentials } from "../ports/Credentials.ts"
import { Entrance } from "../ports/Entrance.ts"
import { AnonymousRequests, FailedAttempts } from "../ports/RateLimits.ts"
import type { Site } from "./Site.ts"

/** What a request says besides its token. */
export interface Origin {
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
}

/**
 * The caller that the token stands for at this resource of the site.
 *
 * Wrong, revoked, expired, unknown and missing tokens fail alike with `InvalidApiKey`, those in the form of an access
 * token with `InvalidToken`, and too many of them from one address with `RateLimited`, before the database is asked.
 */
export const authenticate = Effect.fnUntraced(function*(
  token: Redacted.Redacted,
  site: Site,
  resource: Resource,
  origin: Origin
) {
  const credentials = yield* Credentials
  const entrance = yield* Entrance
  const attempts = yield* FailedAttempts
  const wellFormed = credentials.isWellFormed(token)
  if (origin.ip !== null && wellFormed) yield* attempts.admit(origin.ip, token)
  return yield* entrance.enter(token, resourceAddress(site.baseUrl, resource), site.organizationId).pipe(
    Effect.flatMap((known) => Effect.as(attempts.right(token), Caller.of({ ...known, ...origin }))),
    Effect.catchTag(["invalid_api_key", "invalid_token"], (failure) =>
      Effect.andThen(
        origin.ip === null ? Effect.void : attempts.count(origin.ip, wellFormed ? token : null),
        Effect.fail(failure)
      ))
  )
})

/** Counts a request that carries no bearer token for its address, before anything is done for it. */
export const admitAnonymous = (ip: string | null) =>
  ip === null ? Effect.void : AnonymousRequests.use((requests) => requests.admit(ip))
