/** The authorization server's endpoints for programs: registration, token, revocation and discovery. */
import { ByteSize, Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type RateLimited, ResourceMissing, type ServiceUnavailable } from "../domain/Failure.ts"
import { maxFormSize, type Resource, resourceMetadataPath, resources } from "../domain/oauth/OAuth.ts"
import type { ClientOrigin } from "../domain/oauth/OAuthRecords.ts"
import * as Metadata from "../oauth/discovery/Metadata.ts"
import { refuse, type Refused } from "../oauth/OAuthRefusal.ts"
import { type Parameters, parse } from "../oauth/Parameters.ts"
import { register } from "../oauth/registration/Register.ts"
import { introspect } from "../oauth/token/introspect.ts"
import { revoke } from "../oauth/token/revoke.ts"
import { type IssuedTokens, token } from "../oauth/token/Token.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import type { Db } from "../ports/Db.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import {
  ClientDocuments,
  type OAuthClients,
  type OAuthGrants,
  type OAuthSecrets,
  type RefusedRefreshes,
  Registration,
  ResourceServers
} from "../ports/oauth/OAuthPorts.ts"
import type { AnonymousRequests, FailedAttempts, RateLimiter } from "../ports/RateLimits.ts"
import { answer, type ErrorAnswer, recover } from "../transport/Answer.ts"
import { hostOf } from "../transport/Arrival.ts"
import { admitAnonymous } from "../transport/Authenticate.ts"
import { bearer } from "../transport/BearerToken.ts"
import * as Body from "../transport/Body.ts"
import { clientOf } from "../transport/ClientAddress.ts"
import * as RequestLog from "../transport/RequestLog.ts"
import { type Site, Sites } from "../transport/Site.ts"
import * as Json from "../transport/StrictJson.ts"
import { Readiness, RequestId } from "../transport/TransportSettings.ts"

/** The ports that the endpoints need. */
export type Services =
  | AnonymousRequests
  | ArchiveCrypto
  | ArchiveKeys
  | Db
  | FailedAttempts
  | Journal
  | OAuthClients
  | OAuthGrants
  | OAuthSecrets
  | Outbox
  | RateLimiter
  | RefusedRefreshes
  | Sites

const wellKnown = {
  server: "/.well-known/oauth-authorization-server",
  resource: resourceMetadataPath
} as const

const paths = { register: "/oauth/register", token: "/oauth/token", revoke: "/oauth/revoke" } as const
/** The endpoint for resource servers, which no browser calls. */
const introspectionPath = "/oauth/introspect"

/** True if browsers of every origin may call the path: everything here, and nothing of the pages. */
export const isOpen = (path: string): boolean =>
  Object.values<string>(paths).includes(path) ||
  Object.values<string>(wellKnown).some((known) => path === known || path.startsWith(`${known}/`))

const json = (body: unknown, status = 200) =>
  HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), {
    "cache-control": "no-store",
    "pragma": "no-cache"
  })

/** A refusal as the protocols write it (RFC 6749, section 5.2). */
const toResponse = ({ description, error }: Refused) => {
  const response = json({ error, error_description: description }, error === "invalid_client" ? 401 : 400)
  return error === "invalid_client"
    ? HttpServerResponse.setHeader(response, "www-authenticate", "Basic realm=\"oauth\"")
    : response
}

const codes: Readonly<Record<number, string>> = { 429: "rate_limited", 503: "temporarily_unavailable" }

/** Any other failure, in the same form. */
const failed = ({ body, headers, status }: ErrorAnswer) =>
  HttpServerResponse.setHeaders(
    json({ error: codes[status] ?? "server_error", error_description: body.error.message }, status),
    headers
  )

const missing = () => {
  const { body, status } = answer(new ResourceMissing({}))
  return json(body, status)
}

type Request = HttpServerRequest.HttpServerRequest

type Handle<R> = (
  site: Site,
  request: Request,
  origin: ClientOrigin
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refused | RateLimited | ServiceUnavailable, R>

/** An endpoint at a site of ours, once `admit` lets the address in and the service is ready. */
const at = <R, R2 = never>(
  handle: Handle<R>,
  admit: (ip: string | null) => Effect.Effect<void, RateLimited, R2> = () => Effect.void
) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const site = (yield* Sites).find(hostOf(request))
    if (site === undefined) return missing()
    const origin = {
      ip: yield* clientOf(request),
      requestId: yield* RequestId
    }
    yield* RequestLog.noteClient(origin.ip)
    return yield* admit(origin.ip).pipe(
      Effect.andThen(Effect.flatten(Readiness)),
      Effect.andThen(handle(site, request, origin)),
      Effect.catchTag("Refused", (refused) => Effect.as(RequestLog.noteFailure(refused.error), toResponse(refused))),
      recover((error) => Effect.succeed(failed(error)))
    )
  })

/** An endpoint without credentials: the request is first counted for its address. */
const limited = <R>(handle: Handle<R>) => at(handle, admitAnonymous)

const textOf = Effect.fnUntraced(function*(
  request: Request,
  type: RegExp,
  refused: Refused,
  limit?: ByteSize.ByteSize
) {
  if (!type.test(request.headers["content-type"] ?? "")) return yield* refused
  const bytes = yield* Effect.mapError(Body.read(request, limit), () => refused)
  return yield* Effect.try({ try: () => Body.decode(bytes), catch: () => refused })
})

const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const jsonType = /^application\/json\s*(?:;|$)/i

const form = (request: Request): Effect.Effect<Parameters, Refused> =>
  Effect.flatMap(
    textOf(
      request,
      formType,
      refuse("invalid_request", `The body is not application/x-www-form-urlencoded of at most ${maxFormSize} bytes.`),
      ByteSize.bytes(maxFormSize)
    ),
    (text) => Effect.fromResult(parse(text))
  )

const notJson = refuse("invalid_client_metadata", "The body is not application/json.")

/**
 * What a client has to do that may register with a token alone, and brings none or another one (RFC 7591, section 3).
 */
const unregistered = HttpServerResponse.setHeader(
  json({ error: "invalid_token", error_description: "Registration needs the initial access token." }, 401),
  "www-authenticate",
  "Bearer realm=\"registration\""
)

const registered = limited((site, request, origin) =>
  Effect.gen(function*() {
    const registration = yield* Registration
    if (registration.mode === "off") return missing()
    if (registration.mode === "token" && !registration.admits(bearer(request.headers["authorization"]))) {
      return yield* Effect.as(RequestLog.noteFailure("invalid_token"), unregistered)
    }
    const text = yield* textOf(request, jsonType, notJson)
    const body = yield* Effect.try({ try: () => Json.read(text).value, catch: () => notJson })
    const client = yield* register(site, body, origin.ip)
    return json({
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
      ...(client.secret === null
        ? {}
        : { client_secret: Redacted.value(client.secret), client_secret_expires_at: 0 }),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      token_endpoint_auth_method: client.authMethod,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"]
    }, 201)
  })
)

const issuedBody = ({ accessToken, expiresIn, refreshToken, scopes }: IssuedTokens) => ({
  access_token: Redacted.value(accessToken),
  token_type: "Bearer",
  expires_in: expiresIn,
  refresh_token: Redacted.value(refreshToken),
  scope: scopes.join(" ")
})

const issued = limited((site, request, origin) =>
  Effect.flatMap(form(request), (parameters) =>
    Effect.map(
      token(site, request.headers["authorization"], parameters, origin),
      (tokens) => json(issuedBody(tokens))
    ))
)

const revoked = limited((site, request, origin) =>
  Effect.flatMap(
    form(request),
    (parameters) => Effect.as(revoke(site, request.headers["authorization"], parameters, origin), json({}))
  )
)

const introspected = at((site, request, origin) =>
  Effect.gen(function*() {
    if ((yield* ResourceServers).length === 0) return missing()
    const parameters = yield* form(request)
    return json(yield* introspect(site, request.headers["authorization"], parameters, origin))
  })
)

/** A document, or nothing under a path that is none of ours. */
const document = (known: string, find: (site: Site, suffix: string, offers: Metadata.ServerOffers) => unknown) =>
  at((site, request) =>
    Effect.gen(function*() {
      const offers = {
        registration: (yield* Registration).mode !== "off",
        introspection: (yield* ResourceServers).length > 0,
        clientDocuments: (yield* ClientDocuments) !== null
      }
      const found = find(site, (request.url.split("?", 1)[0] ?? "").slice(known.length), offers)
      return found === undefined
        ? missing()
        : HttpServerResponse.setHeader(HttpServerResponse.jsonUnsafe(found), "cache-control", "public, max-age=3600")
    })
  )

/** The path of the base address, empty for a bare host. */
const basePath = (site: Site): string => new URL(site.baseUrl).pathname.replace(/\/$/, "")

/** The server's document, where RFC 8414 puts it for an issuer with a path, and where it is without one. */
const server = document(
  wellKnown.server,
  (site, suffix, offers) =>
    suffix === "" || suffix === basePath(site) ? Metadata.authorizationServer(site, offers) : undefined
)

/**
 * A resource's document, where RFC 9728 puts it, and where the challenge of the resource says; by itself it is MCP's.
 */
const resource = document(wellKnown.resource, (site, suffix) => {
  const path = basePath(site)
  const within = path !== "" && (suffix === path || suffix.startsWith(`${path}/`)) ? suffix.slice(path.length) : suffix
  const found: Resource | undefined = within === "" ? "mcp" : resources.find((name) => within === `/${name}`)
  return found === undefined ? undefined : Metadata.protectedResource(site, found)
})

/** Every endpoint with its address. */
export const endpoints: ReadonlyArray<{
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, never, Request | Services>
}> = [
  { method: "GET", path: `${wellKnown.server}/*`, endpoint: server },
  { method: "GET", path: `${wellKnown.resource}/*`, endpoint: resource },
  { method: "POST", path: paths.register, endpoint: registered },
  { method: "POST", path: paths.token, endpoint: issued },
  { method: "POST", path: paths.revoke, endpoint: revoked },
  { method: "POST", path: introspectionPath, endpoint: introspected }
]
