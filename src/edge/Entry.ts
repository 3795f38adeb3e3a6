/** How a request comes in, over any transport: at one of the service's addresses, once it is ready, with a known credential. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Via } from "../domain/Access.ts"
import { ParameterInvalid, ResourceMissing } from "../domain/Failure.ts"
import { authenticate } from "./Authenticate.ts"
import { bearer } from "./Bearer.ts"
import { clientOf } from "./ClientAddress.ts"
import * as Observation from "./Observation.ts"
import { Readiness, RequestId } from "./Settings.ts"
import { type Site, Sites } from "./Site.ts"

/** The host that a request names: in its header, which a web request may lack, for its address is whole. */
export const hostOf = ({ headers, source }: HttpServerRequest.HttpServerRequest): string | undefined =>
  headers["host"] ?? (source instanceof Request ? new URL(source.url).host : undefined)

/** The site that the request names; a host that is not ours has nothing. */
export const siteOf = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const host = hostOf(request)
  if (host === undefined) return yield* new ParameterInvalid({ param: "Host", message: "Host: is required." })
  return (yield* Sites).find(host) ?? (yield* new ResourceMissing({}))
})

/** The caller behind the request's credential, once the service may serve anything. */
export const enter = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, site: Site, via: Via) {
  const origin = {
    via,
    ip: yield* clientOf(request),
    requestId: yield* RequestId
  }
  yield* Observation.known(origin.ip)
  yield* yield* Readiness
  const token = bearer(request.headers["authorization"])
  const caller = yield* authenticate(token, site, via === "mcp" ? "mcp" : "v1", origin)
  yield* Observation.known(origin.ip, caller)
  return caller
})
