/**
 * How a request comes in, over any transport: at one of the service's addresses, once it is ready, with a known
 * credential.
 */
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ParameterInvalid, ResourceMissing } from "../domain/Failure.ts"
import type { Caller, Via } from "../domain/people/Access.ts"
import type { Entrance } from "../ports/credentials/Authentication.ts"
import type { Credentials } from "../ports/credentials/Credentials.ts"
import type { FailedAttempts } from "../ports/RateLimits.ts"
import { authenticate, type EntryFailure } from "./Authenticate.ts"
import { bearer } from "./BearerToken.ts"
import { addressOf } from "./ClientAddress.ts"
import * as RequestLog from "./RequestLog.ts"
import { type Site, Sites } from "./Site.ts"
import { Readiness, RequestId, TrustedProxies } from "./TransportSettings.ts"

/** The host that a request names: in its header, which a web request may lack, for its address is whole. */
export const hostOf = ({ headers, source }: HttpServerRequest.HttpServerRequest): string | undefined =>
  headers["host"] ?? (source instanceof Request ? new URL(source.url).host : undefined)

/** The site that the request names; a host that is not ours has nothing. */
export const siteOf = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Site, ParameterInvalid | ResourceMissing, Sites> =>
  Effect.withFiber(({ context }): Effect.Effect<Site, ParameterInvalid | ResourceMissing> => {
    const host = hostOf(request)
    if (host === undefined) return Effect.fail(new ParameterInvalid({ param: "Host", message: "Host: is required." }))
    const site = Context.getUnsafe(context, Sites).find(host)
    return site === undefined ? Effect.fail(new ResourceMissing({})) : Effect.succeed(site)
  })

/** The caller behind the request's credential, once the service may serve anything. */
export const enter = (
  request: HttpServerRequest.HttpServerRequest,
  site: Site,
  via: Via
): Effect.Effect<Caller["Service"], EntryFailure, Credentials | Entrance | FailedAttempts> =>
  Effect.withFiber(({ context }) => {
    const ip = addressOf(request, Context.get(context, TrustedProxies))
    const record = RequestLog.current(context)
    if (record !== undefined) record.ip = ip
    const token = bearer(request.headers["authorization"])
    const origin = { via, ip, requestId: Context.get(context, RequestId) }
    const entered = Effect.map(authenticate(token, site, via === "mcp" ? "mcp" : "v1", origin), (caller) => {
      if (record !== undefined) record.caller = caller
      return caller
    })
    const readiness = Context.get(context, Readiness)
    return readiness === Effect.void ? entered : Effect.andThen(readiness, entered)
  })
