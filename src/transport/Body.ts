/** The reading of a request's body. */
import { type ByteSize, Effect, Predicate } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { ParameterInvalid } from "../domain/Failure.ts"

/** True if the request certainly has no body; without a length or encoding it may have one. */
export const isAbsent = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof Request
    ? source.body === null
    : Predicate.hasProperty(source, "httpVersionMajor") && source.httpVersionMajor === 1 &&
      headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0"

/** The body, whole; `limit` is its largest size where it is less than the service's. */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit?: ByteSize.ByteSize
): Effect.Effect<ArrayBuffer, ParameterInvalid> => {
  const bytes = Effect.mapError(
    request.arrayBuffer,
    () =>
      new ParameterInvalid({ param: "body", message: "body: could not be read, or is larger than what is accepted." })
  )
  return limit === undefined ? bytes : Effect.provideService(bytes, HttpIncomingMessage.MaxBodySize, limit)
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The text that the bytes are in UTF-8; throws where they are not. */
export const decode = (bytes: ArrayBuffer): string => decoder.decode(bytes)
