import { Clock, Duration, Effect, type Redacted, Result } from "effect"
import { RateLimited } from "../../domain/Failure.ts"
import { tokensPerHour, tokensPerMinute } from "../../domain/oauth/OAuth.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { OAuthGrants, RefusedRefreshes } from "../../ports/oauth/OAuthPorts.ts"

const windows = [
  [tokensPerMinute, Duration.toMillis(Duration.minutes(1))],
  [tokensPerHour, Duration.toMillis(Duration.hours(1))]
] as const

const tooMany = (retry_after: number) =>
  new RateLimited({
    retry_after,
    message: `Too many tokens for this connection, which gets ${tokensPerMinute} in a minute and ${tokensPerHour} in ` +
      `an hour: try again in ${retry_after} seconds.`
  })

/** Refuses a request that was refused for the limit, and is sent again, without a query of the database. */
export const refusedFromMemory = Effect.fnUntraced(function*<A, E, R>(
  request: Redacted.Redacted,
  refresh: Effect.Effect<A, E | RateLimited, R>
) {
  const refused = yield* RefusedRefreshes
  const seconds = yield* refused.waits(request)
  if (seconds > 0) return yield* tooMany(seconds)
  return yield* Effect.tapError(
    refresh,
    (error) => error instanceof RateLimited ? refused.remember(request, error.retry_after) : Effect.void
  )
})

/** The wait of the connection for another pair of tokens, by those that it has got; nothing is written for it. */
export const checkLimit = Effect.fnUntraced(function*(organizationId: OrganizationId, connectionId: string) {
  const now = yield* Clock.currentTimeMillis
  const issued = yield* (yield* OAuthGrants).issuedAt(organizationId, connectionId)
  const wait = Math.max(...windows.map(([most, length]) => {
    const oldest = issued[most - 1]
    return oldest === undefined ? 0 : oldest.getTime() + length - now
  }))
  if (wait <= 0) return Result.succeed(undefined)
  return Result.fail(tooMany(Math.ceil(wait / 1000)))
})
