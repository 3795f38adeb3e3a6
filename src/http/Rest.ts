/** One operation as an HTTP route: authentication, admission, input, and the answer. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Failure } from "../domain/Failure.ts"
import { resourceMetadata } from "../domain/oauth/OAuth.ts"
import { Caller } from "../domain/people/Access.ts"
import type { EncodedAnswer } from "../kernel/Encoding.ts"
import { Replayed } from "../kernel/Idempotency.ts"
import type * as Operation from "../kernel/Operation.ts"
import type { Operations } from "../operations/index.ts"
import type { Entrance } from "../ports/credentials/Authentication.ts"
import type { Credentials } from "../ports/credentials/Credentials.ts"
import type { FailedAttempts } from "../ports/RateLimits.ts"
import { type ErrorAnswer, rateHeaders, recover } from "../transport/Answer.ts"
import { enter, siteOf } from "../transport/Arrival.ts"
import { archivePasswordIn, withExtras } from "../transport/Extras.ts"
import type { Sites } from "../transport/Site.ts"
import * as Contents from "./Contents.ts"
import * as Input from "./Input.ts"

/** The services that operations need over HTTP. */
export type Services = Operation.Services<Operations> | Credentials | Entrance | FailedAttempts | Sites

/** A failure as it is answered. */
export const toResponse = ({ body, headers, status }: ErrorAnswer, more: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...headers, ...more, "cache-control": "no-store" } })

/** The headers of an answer that were known before the request failed. */
export interface KnownHeaders {
  baseUrl: string
  headers: Readonly<Record<string, string>>
}

/** The answer to a caller. */
export const respond = Effect.fnUntraced(function*(
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>,
  known: KnownHeaders
) {
  known.headers = rateHeaders(yield* operation.admit)
  const input = yield* Input.read(operation, request, params)
  const written: Effect.Effect<EncodedAnswer, Failure, Operation.Services<Operations> | Caller> = operation.respond(
    input
  )
  const replayed = () => {
    known.headers = { ...known.headers, "idempotent-replayed": "true" }
  }
  const { content, text } = yield* operation.idempotent ? written : Effect.provideService(written, Replayed, replayed)
  if (content !== undefined) return yield* Contents.respond(content, request, yield* Caller, known.headers)
  return HttpServerResponse.text(text, {
    contentType: "application/json",
    headers: { ...known.headers, "cache-control": "no-store" }
  })
})

/** The answer to an authenticated request. */
const serve = Effect.fnUntraced(function*(
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>,
  known: KnownHeaders
) {
  const site = yield* siteOf(request)
  known.baseUrl = site.baseUrl
  const caller = yield* enter(request, site, "rest")
  return yield* Effect.provideService(
    respond(operation, request, params, known),
    Caller,
    withExtras(caller, {
      archivePassword: archivePasswordIn(request.headers),
      idempotencyKey: request.headers["idempotency-key"]
    })
  )
})

/** Answers a request for the operation. */
export const run = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Services> => {
  const known: KnownHeaders = { baseUrl: "", headers: {} }
  return recover((failed) =>
    Effect.succeed(toResponse(
      failed,
      failed.status === 401
        ? {
          ...known.headers,
          "www-authenticate": `Bearer resource_metadata="${resourceMetadata(known.baseUrl, "v1")}"`
        }
        : known.headers
    ))
  )(serve(operation, request, params, known))
}
