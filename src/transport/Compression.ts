/** Answers that are worth compressing and hold no secret together with what a caller chooses. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { accepts } from "./AcceptHeader.ts"

const acceptsGzip = (header: string | undefined): boolean => accepts(header ?? "", ["gzip", "*"])

const gzip = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))
    return new Uint8Array(await new Response(stream).arrayBuffer())
  })

/** Below this many bytes compressing costs more than it saves. */
const worthwhile = 1024

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array<ArrayBuffer> | undefined =>
  body._tag === "Uint8Array" && body.body.byteLength >= worthwhile ? new Uint8Array(body.body) : undefined

const encoded = (response: HttpServerResponse.HttpServerResponse, bytes: Uint8Array) =>
  HttpServerResponse.uint8Array(bytes, {
    status: response.status,
    headers: { ...response.headers, "content-encoding": "gzip" },
    contentType: response.headers["content-type"] ?? "application/octet-stream"
  })

const varying = HttpServerResponse.setHeader("vary", "accept-encoding")

/** The response compressed where the request's client takes that. */
export const compress = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
) {
  const bytes = bytesOf(response)
  return bytes === undefined || !acceptsGzip(request.headers["accept-encoding"])
    ? varying(response)
    : varying(encoded(response, yield* gzip(bytes)))
})

/** The compressed form of a page that is always the same: it is compressed once. */
export const compressOnce = <E, R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) => {
  let kept: Uint8Array | undefined
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const response = yield* page
    const bytes = bytesOf(response)
    if (bytes === undefined || !acceptsGzip(request.headers["accept-encoding"])) return varying(response)
    kept ??= yield* gzip(bytes)
    return varying(encoded(response, kept))
  })
}
