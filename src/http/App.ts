/** The service over HTTP: one handler from a request to its answer, with a route for every operation. */
import { ByteSize, Context, Effect, Scope, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { FindMyWay, HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ResourceMissing } from "../domain/Failure.ts"
import { ServedOperations } from "../operations/index.ts"
import { recover } from "../transport/Answer.ts"
import { hostOf } from "../transport/Arrival.ts"
import * as Compression from "../transport/Compression.ts"
import * as RequestLog from "../transport/RequestLog.ts"
import { Sites } from "../transport/Site.ts"
import { JournalKeys, makeRequestId } from "../transport/TransportSettings.ts"
import * as Cors from "./Cors.ts"
import * as Health from "./Health.ts"
import * as OAuth from "./OAuthEndpoints.ts"
import * as Documents from "./OpenApiDocument.ts"
import * as Pages from "./pages/index.ts"
import * as ReferencePage from "./ReferencePage.ts"
import * as Rest from "./Rest.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"
import * as UnknownRoutes from "./UnknownRoutes.ts"

/** The size of a request's body at most. */
const maxBodySize = ByteSize.kibibytes(64)

/** The services that the app needs; their layers live elsewhere. */
export type Services = Rest.Services | OAuth.Services | Pages.Services | SecureRandom.SecureRandom

/**
 * A further endpoint on the same server: whatever the method, it answers at its path and below, within the same edge
 * and with the same services.
 */
export interface Mount {
  readonly path: `/${string}`
  readonly handler: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    Services | HttpServerRequest.HttpServerRequest
  >
}

/** The services that are mounted with the interface; nothing by default. */
export const Mounts = Context.Reference<ReadonlyArray<Mount>>("org-security-console/http/App/Mounts", {
  defaultValue: () => []
})

/** The path of the public keys of the journal's checkpoints. */
const journalKeys = "/.well-known/journal-keys"

/** The answer to a request; whatever fails is answered already. */
type Serve<R = Services> = (
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest>

/** The handler of an address, and the name under which it is recorded. */
interface Route {
  readonly endpoint: RequestLog.Endpoint
  readonly serve: Serve
}

/** Unknown routes answer 404 `resource_missing`; where a route has other methods, the answer lists them. */
const unrouted = (describe: UnknownRoutes.Describe): Serve<never> => ({ method, url }) => {
  const { message, methods } = describe(method, url)
  return Effect.fail(new ResourceMissing({ message })).pipe(
    recover((failed) => Effect.succeed(Rest.toResponse(failed, methods === "" ? {} : { allow: methods })))
  )
}

/** True if browsers of every origin may call the path: the API, its document, and the token endpoints. */
const isOpen = (path: string): boolean => path.startsWith("/v1/") || path === Documents.path || OAuth.isOpen(path)

/** A page for a browser; a program gets the answer of the API, as at any other address. */
const asked = (page: Serve, absent: Serve<never>): Serve => (request, params) =>
  /\btext\/html\b/i.test(request.headers["accept"] ?? "") ? page(request, params) : absent(request, params)

/** Paths are exact: case, slashes and all; an id of any length is an id, and malformed at most. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

/** Every address with what answers there. */
const makeRouter = Effect.gen(function*() {
  const router = FindMyWay.make<Route>(routerConfig)
  const operations = yield* ServedOperations
  const unknown = unrouted(UnknownRoutes.make(operations))
  for (const operation of operations) {
    router.on(operation.method, operation.path, {
      endpoint: new RequestLog.Endpoint("rest", operation.path, operation.id),
      serve: (request, params) => Rest.run(operation, request, params)
    })
  }
  /** An address that no operation is at. */
  const add = (method: string, path: `/${string}`, serve: Serve) => {
    const route = { endpoint: new RequestLog.Endpoint("http", path), serve }
    router.on(method, path, route)
    if (path.endsWith("/*")) router.on(method, `/${path.slice(1, -2)}`, route)
  }
  add("GET", "/", asked(() => Pages.front, unknown))
  const document = Compression.compressOnce(Effect.sync(() => Documents.response(operations)))
  add("GET", Documents.path, () => document)
  const reference = Compression.compressOnce(yield* ReferencePage.make)
  add("GET", ReferencePage.path, () => reference)
  for (const { endpoint, method, path } of OAuth.endpoints) add(method, path, () => endpoint)
  for (const { method, path, serve } of Pages.pages) add(method, path, (_, params) => serve(params))
  const keys = yield* JournalKeys
  add("GET", journalKeys, () => Effect.sync(() => HttpServerResponse.jsonUnsafe({ keys })))
  add("GET", "/healthz", () => Health.alive)
  const ready = yield* Health.makeReady
  add("GET", "/readyz", () => ready)
  for (const { handler, path } of yield* Mounts) {
    const route: Route = { endpoint: new RequestLog.Endpoint("http", path), serve: () => handler }
    router.all(`${path}/*`, route)
    router.all(path, route)
  }
  return { absent: asked(() => Pages.absent, unknown), router, unknown }
})

/** A path with one of these is no path of ours; the router would end the path there, and pass over the rest. */
const foreign = /[;#]/

/** The surroundings in which the service is made, as far as its requests keep them: no span and no scope. */
const lasting = Context.omit(Tracer.ParentSpan, Scope.Scope, HttpServerRequest.HttpServerRequest)

/** An effect from a request to a response. */
export type App<R = never> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | R
>

/** The context that each service was made in, where a server brings it to requests. */
const madeIn = new WeakMap<App, Context.Context<Services>>()

/** The service whose surroundings a request has already. */
const Surroundings = Context.Reference<object | undefined>("org-security-console/http/App/Surroundings", {
  defaultValue: () => undefined
})

/** The number of services that are added for a request before all of them are copied. */
const maxAdded = 32

/** True if the context has all that the app was made in. */
const isWithin = <R>(context: Context.Context<R>, app: App): context is Context.Context<R | Services> =>
  Context.get(context, Surroundings) === app

/** Surroundings for serving the app, with those that it was made in: a server that has them adds the request alone. */
export const around = <R>(app: App, outer: Context.Context<R>): Context.Context<R> => {
  const inner = madeIn.get(app)
  return inner === undefined
    ? outer
    : Context.makeUnsafe(new Map(Context.merge(outer, Context.add(inner, Surroundings, app)).mapUnsafe), {
      maxDepth: maxAdded
    })
}

/**
 * The service as one effect from a request to a response, for any server: `HttpServer.serve` of Effect, or a web
 * handler by `HttpEffect.toWebHandler`.
 *
 * It serves every operation, the OpenAPI document, `/healthz` and `/readyz` for a supervisor, and what is mounted. What
 * holds for every request is done here: an id on the answer, limits, open origins where they belong, and errors in one
 * body.
 */
export const make: Effect.Effect<App, never, Services> = Effect.gen(function*() {
  const context = Context.add(
    lasting(yield* Effect.context<Services>()),
    HttpIncomingMessage.MaxBodySize,
    maxBodySize
  )
  const random = Context.get(context, SecureRandom.SecureRandom)
  const sites = Context.get(context, Sites)
  const { absent, router, unknown } = yield* makeRouter

  const serve = (request: HttpServerRequest.HttpServerRequest, requestId: string) => {
    const { method, url } = request
    const path = url.split("?", 1)[0] ?? ""
    const open = isOpen(path)
    const record = new RequestLog.RequestRecord(method, requestId)
    const found = foreign.test(path)
      ? undefined
      : router.find(method, url) ?? (method === "HEAD" ? router.find("GET", url) : undefined)
    let answered: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      never,
      Services | HttpServerRequest.HttpServerRequest
    >
    if (open && method === "OPTIONS") {
      answered = Cors.preflight
    } else if (found === undefined) {
      answered = (open ? unknown : absent)(request, {})
    } else {
      record.endpoint = found.handler.endpoint
      answered = recover((failed) => Effect.succeed(Rest.toResponse(failed)))(
        Effect.interruptible(found.handler.serve(request, found.params))
      )
    }
    const site = sites.find(hostOf(request))
    return Effect.updateContext(
      Effect.uninterruptible(
        Effect.map(
          RequestLog.recorded(record, ({ status }) => status, answered),
          (response) => SecurityHeaders.complete(response, requestId, site, open)
        )
      ),
      (outer: Context.Context<HttpServerRequest.HttpServerRequest>) => RequestLog.inContext(surroundings(outer), record)
    )
  }
  const app: App = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) => Effect.flatMap(makeRequestId(random), (requestId) => serve(request, requestId))
  )
  madeIn.set(app, context)
  // Services that a host has provided around this one count at each request.
  const surroundings = (outer: Context.Context<HttpServerRequest.HttpServerRequest>) =>
    isWithin(outer, app) ? outer : Context.merge(outer, context)
  // @effect-diagnostics-next-line returnEffectInGen:off -- the app itself is what is made
  return app
})
