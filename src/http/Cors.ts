/**
 * Pages of every origin may call the interface: the headers that browsers get, before a request and with its answer.
 */
import { Effect } from "effect"
import { HttpMiddleware, HttpServerResponse } from "effect/http"
import { exposedHeaders } from "../transport/Answer.ts"

const options = {
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
    ...exposedHeaders,
    "Accept-Ranges",
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Idempotent-Replayed"
  ],
  maxAge: 86_400
}

/** The answer to a browser's preflight request. */
export const preflight = HttpMiddleware.cors(options)(Effect.succeed(HttpServerResponse.empty()))

/** The headers of every answer to a page of another origin. */
export const headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": options.exposedHeaders.join(",")
}
