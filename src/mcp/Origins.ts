/** The origins from which browsers may call the server (CORS). */
import { Effect } from "effect"
import { HttpMiddleware, HttpServerResponse } from "effect/http"
import { exposedHeaders } from "../transport/Answer.ts"

const toEveryOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders.join(",")
}

/** The answer to a browser's preflight request. */
export const preflight = (allowed: ReadonlyArray<string> | undefined) =>
  HttpMiddleware.cors({
    ...(allowed === undefined ? {} : { allowedOrigins: (origin: string) => allowed.includes(origin) }),
    allowedMethods: ["POST"],
    exposedHeaders,
    maxAge: 86_400
  })(Effect.succeed(HttpServerResponse.empty()))

/** The headers of an answer to a page of another origin. */
export const opened = (
  response: HttpServerResponse.HttpServerResponse,
  allowed: ReadonlyArray<string> | undefined,
  origin: string | undefined
) => {
  if (allowed === undefined) return HttpServerResponse.setHeaders(response, toEveryOrigin)
  const { vary } = response.headers
  const varying = HttpServerResponse.setHeader(response, "vary", vary === undefined ? "Origin" : `${vary}, Origin`)
  return origin === undefined || !allowed.includes(origin)
    ? varying
    : HttpServerResponse.setHeaders(varying, { ...toEveryOrigin, "access-control-allow-origin": origin })
}
