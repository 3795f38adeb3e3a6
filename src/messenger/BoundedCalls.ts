/** Calls to the messenger as operations see them: bounded, and failing with the service's own failures. */
import { Duration, Effect } from "effect"
import { MessengerRefused, MessengerUnavailable, NoSession } from "../domain/Failure.ts"
import { messengerTimeout } from "../domain/Limits.ts"
import type { MessengerFailure } from "../ports/messenger/MessengerSession.ts"

/** The failures of every call to the messenger. */
export const liveFailures = [NoSession, MessengerRefused, MessengerUnavailable] as const
export type LiveFailure = InstanceType<typeof liveFailures[number]>

/** Logs why a request is answered that the messenger is not available, with its id. */
export const noteUnavailable = (cause: string): Effect.Effect<void> =>
  Effect.logWarning("The messenger is not available", cause)

const timeoutText = `no answer within ${Duration.format(messengerTimeout)}`

/** Ends a call that takes too long with another result, which is logged. */
export const orTimeout = <A, E, R, B, E2>(call: Effect.Effect<A, E, R>, otherwise: Effect.Effect<B, E2>) =>
  Effect.timeoutOrElse(call, {
    duration: messengerTimeout,
    orElse: () => Effect.andThen(noteUnavailable(timeoutText), otherwise)
  })

export const common = (failure: MessengerFailure): Effect.Effect<never, LiveFailure> => {
  switch (failure._tag) {
    case "NoSession":
      return Effect.fail(new NoSession({}))
    case "PlatformBusy":
      return Effect.andThen(
        noteUnavailable(`a flood wait of ${failure.retryAfterSeconds} seconds`),
        Effect.fail(new MessengerUnavailable({ retry_after: Math.max(1, failure.retryAfterSeconds) }))
      )
    case "PlatformUnavailable":
      return Effect.andThen(noteUnavailable("no answer"), Effect.fail(new MessengerUnavailable({})))
    case "PlatformRefused":
      return Effect.andThen(
        Effect.logWarning("The messenger refused", failure.reason),
        Effect.fail(new MessengerRefused({}))
      )
  }
}

/** A call that takes too long counts as unavailable. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  orTimeout(effect, Effect.fail(new MessengerUnavailable({})))
