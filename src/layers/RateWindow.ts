/** The sliding minute of a credential, wherever its hits are kept. */
import { Duration, Effect } from "effect"
import { RateLimited } from "../domain/Failure.ts"
import { requestsPerMinute } from "../domain/Limits.ts"

export const windowMillis = Duration.toMillis(Duration.minutes(1))

/** The state that follows from how many hits are in the window and the oldest of them, or the refusal. */
export const state = (admitted: boolean, used: number, oldest: number | null, now: number) => {
  const reset = Math.max(1, Math.ceil(((oldest ?? now) + windowMillis - now) / 1000))
  return admitted
    ? Effect.succeed({ limit: requestsPerMinute, remaining: requestsPerMinute - used, reset })
    : Effect.fail(
      new RateLimited({
        retry_after: reset,
        message: `Over ${requestsPerMinute} requests a minute: try again in ${reset} seconds.`
      })
    )
}
