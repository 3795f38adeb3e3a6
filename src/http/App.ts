/** The service over HTTP: a route for every operation, and the edge around all of them. */
import { ByteSize, Context, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  HttpEffect,
  HttpIncomingMessage,
  HttpMiddleware,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { Caller } from "../domain/Access.ts"
import { ResourceMissing } from "../domain/Failure.ts"
import { resourceMetadata } from "../domain/OAuth.ts"
import { type ErrorAnswer, rateHeaders, recover } from "../edge/Answer.ts"
import * as Compression from "../edge/Compression.ts"
import { enter, hostOf, siteOf } from "../edge/Entry.ts"
import { withExtras } from "../edge/Extras.ts"
import * as Observation from "../edge/Observation.ts"
import { JournalKeys, makeRequestId, RequestId } from "../edge/Settings.ts"
import { Sites } from "../edge/Site.ts"
import { Replayed } from "../kernel/Idempotency.ts"
import type * as Operation from "../kernel/Operation.ts"
import { type Operations, Served } from "../operations/index.ts"
import type { Credentials } from "../ports/Credentials.ts"
import type { Entrance } from "../ports/Entrance.ts"
import type { FailedAttempts } from "../ports/RateLimits.ts"
import * as Documents from "./Documents.ts"
import * as Headers from "./Headers.ts"
import * as Health from "./Health.ts"
import * as Input from "./Input.ts"
import * as OAuth from "./OAuth.ts"
import * as Pages from "./pages/index.ts"
import * as Reference from "./Reference.ts"
import * as Unrouted from "./Unrouted.ts"

/** How large a request's body may be. */
const maxBodySize = ByteSize.kibibytes(64)

/** The services that the app needs; their layers live elsewhere. */
export type Services =
  | Operation.Services<Operations>
  | Credentials
  | Entrance
  | FailedAttempts
  | OAuth.Services
  | Pages.Services
  | SecureRandom.SecureRandom
  | Sites

/** A further endpoint on the same server: whatever the method, it answers at its path and below, within the same edge. */
export interface Mount {
  readonly path: `/${string}`
  readonly handler: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}

/** What is served beside the interface; nothing by default. */
export const Mounts = Context.Reference<ReadonlyArray<Mount>>("org-security-console/http/App/Mounts", {
  defaultValue: () => []
})

const toResponse = ({ body, headers, status }: ErrorAnswer) =>
  HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), {
    ...headers,
    "cache-control": "no-store"
  })

/** Runs one operation for the request: who asks, whether it may, what it asks, and the answer. */
const run = Effect.fnUntraced(function*(
  operation: Operation.Any
): Effect.fn.Return<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext | Services
> {
  const request = yield* HttpServerRequest.HttpServerRequest
  let baseUrl = ""
  let headers: Readonly<Record<string, string>> = {}
  return yield* Effect.gen(function*() {
    const site = yield* siteOf(request)
    baseUrl = site.baseUrl
    const caller = yield* enter(request, site, "rest")
    return yield* Effect.gen(function*() {
      headers = rateHeaders(yield* operation.admit)
      const { params } = yield* HttpRouter.RouteContext
      // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
      const { text } = yield* operation.respond(yield* Input.read(operation, request, params)).pipe(
        Effect.provideService(Replayed, () => headers = { ...headers, "idempotent-replayed": "true" })
      )
      return HttpServerResponse.text(text, { contentType: "application/json" })
    }).pipe(Effect.provideService(Caller, withExtras(caller, request.headers["idempotency-key"])))
  }).pipe(
    recover((failed) =>
      Effect.succeed(
        failed.status === 401
          ? HttpServerResponse.setHeader(
            toResponse(failed),
            "www-authenticate",
            `Bearer resource_metadata="${resourceMetadata(baseUrl, "v1")}"`
          )
          : toResponse(failed)
      )
    ),
    Effect.map((response) => HttpServerResponse.setHeaders(response, { ...headers, "cache-control": "no-store" }))
  )
})

/** Where the public keys of the journal's checkpoints are. */
const journalKeys = "/.well-known/journal-keys"

/** An address that nothing answers at is one more object that does not exist; the answer says which methods it has. */
const unrouted = (describe: Unrouted.Describe) => ({ method, url }: HttpServerRequest.HttpServerRequest) => {
  const { message, methods } = describe(method, url)
  return Effect.fail(new ResourceMissing({ message })).pipe(
    recover((failed) =>
      Effect.succeed(
        methods === "" ? toResponse(failed) : HttpServerResponse.setHeader(toResponse(failed), "allow", methods)
      )
    )
  )
}

const isUnrouted = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Whether browsers of every origin may call the path: the interface, its document, and the ways to a token. */
const isOpen = (url: string): boolean => {
  const path = url.split("?", 1)[0] ?? ""
  return path.startsWith("/v1/") || path === Documents.path || OAuth.isOpen(path)
}

const cors = HttpMiddleware.cors({
  allowedMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  allowedHeaders: [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Archive-Password",
    "Range",
    "MCP-Protocol-Version"
  ],
  exposedHeaders: [
    "Request-Id",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "WWW-Authenticate",
    "Idempotent-Replayed"
  ],
  maxAge: 86_400
})

/** What holds for every request: an id on the answer, limits, open origins where they belong, and errors in one body. */
const edge = <E, R>(
  random: SecureRandom.SecureRandom["Service"],
  sites: Sites["Service"],
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = yield* makeRequestId(random)
    const observation = new Observation.Observation(request.method, requestId)
    const site = sites.find(hostOf(request))
    yield* HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(Headers.secure(response, requestId, site))
    )
    const answered = app.pipe(
      recover((failed) => Effect.succeed(toResponse(failed))),
      Effect.provideService(RequestId, requestId),
      Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBodySize),
      Effect.annotateLogs({ request_id: requestId })
    )
    return yield* Observation.watch(
      observation,
      ({ status }) => status,
      isOpen(request.url) ? cors(answered) : answered
    )
  })

/** An address that no operation is at. */
const named = <E, R>(path: string, handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Observation.at(new Observation.Endpoint("http", path), handler)

/** The bare address leads a person to the console; to programs it is nothing, as any other address. */
const root = (absent: ReturnType<typeof unrouted>) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { baseUrl } = yield* siteOf(request)
    return /\btext\/html\b/i.test(request.headers["accept"] ?? "")
      ? HttpServerResponse.empty({
        status: 303,
        headers: { location: `${new URL(baseUrl).pathname.replace(/\/$/, "")}/console`, "cache-control": "no-store" }
      })
      : yield* absent(request)
  }).pipe(recover((failed) => Effect.succeed(toResponse(failed))))

/** Paths are exact: case, slashes and all; an id of any length is an id, and malformed at most. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

/** A path with one of these is no path of ours; the router would end the path there, and pass over the rest. */
const isForeign = (url: string): boolean => /[;#]/.test(url.split("?", 1)[0] ?? "")

/**
 * The service as one effect from a request to a response, for any server: `HttpServer.serve` of Effect, or a web handler
 * by `HttpEffect.toWebHandler`.
 *
 * It serves every operation, the OpenAPI document, `/healthz` and `/readyz` for a supervisor, and what is mounted.
 */
export const make: Effect.Effect<
  Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
  never,
  Services
> = Effect.gen(function*() {
  const context = yield* Effect.context<Services>()
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
  const operations = yield* Served
  const absent = unrouted(Unrouted.make(operations))
  for (const operation of operations) {
    const endpoint = new Observation.Endpoint("rest", operation.path, operation.id)
    yield* router.add(
      operation.method,
      operation.path,
      Observation.at(endpoint, Effect.provideContext(run(operation), context))
    )
  }
  yield* router.add("GET", "/", named("/", Effect.provideContext(root(absent), context)))
  yield* router.add(
    "GET",
    Documents.path,
    named(Documents.path, Compression.compressOnce(Effect.sync(() => Documents.response(operations))))
  )
  yield* router.add(
    "GET",
    Reference.path,
    named(Reference.path, Compression.compressOnce(yield* Reference.make))
  )
  yield* OAuth.add(router, context)
  for (const { method, path, serve } of Pages.pages) {
    yield* router.add(method, path, named(path, Effect.provideContext(serve, context)))
  }
  const keys = yield* JournalKeys
  yield* router.add("GET", journalKeys, named(journalKeys, Effect.sync(() => HttpServerResponse.jsonUnsafe({ keys }))))
  yield* router.add("GET", "/healthz", named("/healthz", Health.alive))
  yield* router.add("GET", "/readyz", named("/readyz", yield* Health.makeReady))
  for (const { handler, path } of yield* Mounts) yield* router.add("*", `${path}/*`, named(path, handler))
  const routed = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      isForeign(request.url)
        ? absent(request)
        : Effect.catch(router.asHttpEffect(), (error) => isUnrouted(error) ? absent(request) : Effect.die(error))
  )
  // @effect-diagnostics-next-line returnEffectInGen:off -- the app itself is what is made
  return Effect.scoped(edge(Context.get(context, SecureRandom.SecureRandom), Context.get(context, Sites), routed))
})
