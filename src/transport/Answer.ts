/** The form of failures and budgets on the wire, over any transport (specification, sections 7 and 8). */
import { Cause, Effect, Option, Predicate } from "effect"
import { HttpServerError } from "effect/http"
import * as Failures from "../domain/Failure.ts"
import type { RateState } from "../ports/RateLimits.ts"
import * as RequestLog from "./RequestLog.ts"

/** A failure as an answer of HTTP; other transports use its body. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Failures.ErrorBody
}

const isStatus = (value: unknown): value is Failures.FailureStatus =>
  Predicate.isNumber(value) && Object.hasOwn(Failures.failureTypes, value)

const statusByCode: ReadonlyMap<string, Failures.FailureStatus> = new Map(
  Object.values<unknown>({ ...Failures }).flatMap((member) =>
    Predicate.hasProperty(member, "identifier") && Predicate.isString(member.identifier) &&
      Predicate.hasProperty(member, "status") && isStatus(member.status)
      ? [[member.identifier, member.status] as const]
      : []
  )
)

/** Every code that the service answers, with its status. */
export const codes: ReadonlyMap<string, number> = statusByCode

const isFailure = (value: unknown): value is Failures.Failure =>
  Predicate.hasProperty(value, "_tag") && Predicate.isString(value._tag) && statusByCode.has(value._tag)

/** The answer of a failure; anything that is not one of the service's failures answers `internal_error`. */
export const answer = (failure: unknown): ErrorAnswer => {
  const known = isFailure(failure) ? failure : new Failures.InternalError({})
  const status = statusByCode.get(known._tag) ?? 500
  return {
    status,
    headers: {
      ...(Predicate.hasProperty(known, "retry_after") ? { "retry-after": String(known.retry_after) } : {}),
      ...(known._tag === "range_not_satisfiable" && Predicate.hasProperty(known, "size")
        ? { "content-range": `bytes */${String(known.size)}` }
        : {}),
      ...(Predicate.hasProperty(known, "scope")
        ? { "www-authenticate": `Bearer error="insufficient_scope", scope="${String(known.scope)}"` }
        : {})
    },
    body: Failures.errorBody(known, status)
  }
}

/** True if the work was interrupted because its client no longer waits for it. */
const isGivenUp = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    Cause.isInterruptReason(reason) && reason.annotations.has(HttpServerError.ClientAbort.key)
  )

/**
 * Answers whatever went wrong; what is not a failure of the service is logged, and not answered. Work that was
 * interrupted, because the service stops, answers as unavailable; what its client gave up counts as cancelled.
 */
export const recover =
  <B, R2>(respond: (failed: ErrorAnswer) => Effect.Effect<B, never, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, never, R | R2> => {
    const answerWith = (failed: ErrorAnswer) =>
      Effect.andThen(RequestLog.noteFailure(failed.body.error.code), respond(failed))
    return Effect.catchCause(effect, (cause): Effect.Effect<B, never, R2> => {
      if (Cause.hasInterruptsOnly(cause)) {
        const unavailable = answer(new Failures.ServiceUnavailable({}))
        return isGivenUp(cause)
          ? Effect.andThen(RequestLog.noteFailure(RequestLog.cancelled), respond(unavailable))
          : answerWith(unavailable)
      }
      const failure = Option.filter(Cause.findErrorOption(cause), isFailure)
      return Option.isSome(failure)
        ? answerWith(answer(failure.value))
        : Effect.andThen(Effect.logError("A request failed", cause), answerWith(answer(undefined)))
    })
  }

/** The headers of an answer that pages of other origins may read, over any transport. */
export const exposedHeaders = [
  "Request-Id",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Retry-After",
  "WWW-Authenticate"
]

/** The budget's headers (specification, section 8). */
export const rateHeaders = ({ limit, remaining, reset }: RateState): Readonly<Record<string, string>> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset)
})
