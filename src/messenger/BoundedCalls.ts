/** Calls to the messenger as operations see them: bounded, and failing with the service's own failures. */
import { Effect } from "effect"
import { MessengerRefused, MessengerUnavailable, NoSession } from "../domain/Failure.ts"
import { messengerTimeout } from "../domain/Limits.ts"
import type { MessengerFailure } from "../ports/messenger/MessengerSession.ts"

/** What every call to the messenger may fail with. */
export const liveFailures = [NoSession, MessengerRefused, MessengerUnavailable] as const
export type LiveFailure = InstanceType<typeof liveFailures[number]>

export const common = (failure: MessengerFailure): Effect.Effect<never, LiveFailure> => {
  switch (failure._tag) {
    case "NoSession":
      return Effect.fail(new NoSession({}))
    case "PlatformBusy":
      return Effect.fail(new MessengerUnavailable({ retry_after: Math.max(1, failure.retryAfterSeconds) }))
    case "PlatformUnavailable":
      return Effect.fail(new MessengerUnavailable({}))
    case "PlatformRefused":
      return Effect.andThen(
        Effect.logWarning("The messenger refused", failure.reason),
        Effect.fail(new MessengerRefused({}))
      )
  }
}

/** A call that takes too long counts as unavailable. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, { duration: messengerTimeout, orElse: () => Effect.fail(new MessengerUnavailable({})) })
