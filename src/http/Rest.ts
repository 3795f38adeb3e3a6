/** One operation as an address of the interface: who asks, whether it may, what it asks, and the answer. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "../domain/Access.ts"
import type { Failure } from "../domain/Failure.ts"
import { resourceMetadata } from "../domain/OAuth.ts"
import { type ErrorAnswer, rateHeaders, recover } from "../edge/Answer.ts"
import { enter, siteOf } from "../edge/Entry.ts"
import { withExtras } from "../edge/Extras.ts"
import type { Sites } from "../edge/Site.ts"
import type { Written } from "../kernel/Encoding.ts"
import { Replayed } from "../kernel/Idempotency.ts"
import type * as Operation from "../kernel/Operation.ts"
import type { Operations } from "../operations/index.ts"
import type { Credentials } from "../ports/Credentials.ts"
import type { Entrance } from "../ports/Entrance.ts"
import type { FailedAttempts } from "../ports/RateLimits.ts"
import * as Input from "./Input.ts"

/** The services that operations need over HTTP. */
export type Services = Operation.Services<Operations> | Credentials | Entrance | FailedAttempts | Sites

/** A failure as it is answered. */
export const toResponse = ({ body, headers, status }: ErrorAnswer, more: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...headers, ...more, "cache-control": "no-store" } })

/** Answers a request for the operation. */
export const run = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Services> => {
  let baseUrl = ""
  let headers: Readonly<Record<string, string>> = {}
  const replayed = () => {
    headers = { ...headers, "idempotent-replayed": "true" }
  }
  const answered = Effect.gen(function*() {
    headers = rateHeaders(yield* operation.admit)
    const input = yield* Input.read(operation, request, params)
    const respond: Effect.Effect<Written, Failure, Operation.Services<Operations> | Caller> = operation.respond(input)
    const { text } = yield* operation.idempotent ? respond : Effect.provideService(respond, Replayed, replayed)
    return HttpServerResponse.text(text, {
      contentType: "application/json",
      headers: { ...headers, "cache-control": "no-store" }
    })
  })
  return Effect.gen(function*() {
    const site = yield* siteOf(request)
    baseUrl = site.baseUrl
    const caller = yield* enter(request, site, "rest")
    return yield* Effect.provideService(answered, Caller, withExtras(caller, request.headers["idempotency-key"]))
  }).pipe(
    recover((failed) =>
      Effect.succeed(toResponse(
        failed,
        failed.status === 401
          ? { ...headers, "www-authenticate": `Bearer resource_metadata="${resourceMetadata(baseUrl, "v1")}"` }
          : headers
      ))
    )
  )
}
