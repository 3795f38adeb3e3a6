/** Contents over HTTP: whole or in part, as a file that a browser stores and never shows. */
import { Cause, Effect, Metric, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Content, ContentBroken, requestedRange } from "../domain/Content.ts"
import { RangeNotSatisfiable } from "../domain/Failure.ts"
import type { Caller } from "../domain/people/Access.ts"
import { turnOfRequest } from "../transport/ContentTurns.ts"
import { RequestId } from "../transport/TransportSettings.ts"

const broken = Metric.counter("console_broken_contents_total", {
  description: "Contents that ended early, so that their connections were cut",
  incremental: true
})

/** Of a page that a browser is made to show after all: it runs and loads nothing, and has no origin. */
const policy = "sandbox; default-src 'none'; frame-ancestors 'none'"

const plainName = /^[\w.!#$&+^`|~ ()-]+$/

/** The value of `Content-Disposition` (RFC 6266): what is not ASCII, or has a meaning there, is encoded (RFC 8187). */
const disposition = (name: string): string => {
  if (plainName.test(name)) return `attachment; filename="${name}"`
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  const fallback = name.replace(/[^\w.-]/gu, "_")
  return `attachment; filename="${fallback}"; filename*=UTF-8''${encoded}`
}

/** Exactly so many bytes: more or fewer break the content, since they would be taken for those of the next answer. */
const exactly = (size: number, bytes: Stream.Stream<Uint8Array, ContentBroken>) =>
  Stream.suspend(() => {
    let sent = 0
    const checked = Stream.mapEffect(bytes, (chunk) => {
      sent += chunk.length
      return sent > size
        ? Effect.fail(new ContentBroken({ reason: "there was more of it than its size" }))
        : Effect.succeed(chunk)
    })
    const ended = Effect.suspend(() =>
      sent < size ? Effect.fail(new ContentBroken({ reason: "there was less of it than its size" })) : Effect.void
    )
    return Stream.concat(checked, Stream.fromEffectDrain(ended))
  })

/** True if the range is of the bytes that the client has begun to load; it is, where it does not say of which. */
const isSameVersion = (ifRange: string | undefined, version: string | null): boolean =>
  ifRange === undefined || (version !== null && ifRange.trim() === `"${version}"`)

const rangeOf = ({ ranges, size, version }: Content, { headers, method }: HttpServerRequest.HttpServerRequest) =>
  size === null || !ranges || method !== "GET" || !isSameVersion(headers["if-range"], version)
    ? "whole"
    : requestedRange(headers["range"], size)

/** Answers the content, or the range of it that is asked for; where its bytes fail, the connection is cut. */
export const respond = Effect.fnUntraced(function*(
  content: Content,
  request: HttpServerRequest.HttpServerRequest,
  caller: Caller["Service"],
  headers: Readonly<Record<string, string>>
) {
  const { file_name, media_type, size, version } = content
  const range = rangeOf(content, request)
  if (range === "unsatisfiable") return yield* new RangeNotSatisfiable({ size: size ?? 0 })
  const requestId = yield* RequestId
  const turn = yield* turnOfRequest(caller.credential.id)
  const length = range === "whole" ? size : range.end - range.start
  const bytes = range === "whole" ? content.bytes() : content.bytes(range)
  const stream = (length === null ? bytes : exactly(length, bytes)).pipe(
    Stream.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.andThen(
        Metric.update(broken, 1),
        Effect.annotateLogs(Effect.logWarning("A content ended early", cause), { request_id: requestId })
      )
    ),
    Stream.ensuring(turn.release)
  )
  return HttpServerResponse.stream(stream, {
    status: range === "whole" ? 200 : 206,
    contentType: media_type,
    ...(length === null ? {} : { contentLength: length }),
    headers: {
      ...headers,
      "cache-control": "private, no-store",
      "accept-ranges": content.ranges && size !== null ? "bytes" : "none",
      "content-disposition": disposition(file_name),
      "content-security-policy": policy,
      "cross-origin-resource-policy": "same-origin",
      ...(range === "whole" ? {} : { "content-range": `bytes ${range.start}-${range.end - 1}/${size}` }),
      ...(version === null ? {} : { etag: `"${version}"` })
    }
  })
})
