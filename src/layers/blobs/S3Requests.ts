/** Requests of an S3-compatible store: signed (Signature Version 4), bounded in time, and tried again where they may be. */
import { AwsV4Signer } from "aws4fetch"
import { Clock, Duration, Effect, Redacted, Schedule, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as crypto from "node:crypto"

/** A bucket, and where in it objects are. */
export interface S3Place {
  /** Scheme, host and port of the store. */
  readonly endpoint: string
  readonly bucket: string
  /** The beginning of the names of objects; empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
}

export interface S3Credentials {
  readonly keyId: string
  readonly secret: Redacted.Redacted
}

export interface S3Request {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT"
  /** The name of the object within the place; null for the bucket itself. */
  readonly name: string | null
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** The store refused a request, or gave no answer: then the status is 0. */
export class S3Refused extends Schema.TaggedError<S3Refused>()("S3Refused", {
  status: Schema.Int,
  /** The store's own code, such as NoSuchKey. */
  code: Schema.String
}) {}

/** The time until the head of an answer, and of a body that is read whole. */
const answerTime = Duration.seconds(30)
/** An attempt that sends a body has longer, for 8 MiB over a slow line. */
const sendTime = Duration.minutes(2)
/** Attempts after the first one. */
const repetitions = 3
/** Bytes of an answer in XML that are kept. */
const maxText = 64 * 1024

const backoff = Schedule.jittered(Schedule.exponential("200 millis"))

/** True if the same request may succeed later. */
const isPassing = ({ status }: S3Refused): boolean => status === 0 || status === 408 || status === 429 || status >= 500

/** `2026-01-31T08:00:00.000Z` as `20260131T080000Z`. */
const signingTime = (millis: number): string => new Date(millis).toISOString().replace(/[:-]|\.\d{3}/g, "")

const digest = (bytes: Uint8Array): string => crypto.createHash("sha256").update(bytes).digest("hex")

const none = new Uint8Array()

const decoder = new TextDecoder()

/** The beginning of an answer's text. */
export const textOf = (response: HttpClientResponse.HttpClientResponse) =>
  Stream.runFold(
    response.stream,
    () => "",
    (text, bytes) => text.length < maxText ? text + decoder.decode(bytes) : text
  ).pipe(
    Effect.timeout(answerTime),
    Effect.orElseSucceed(() => "")
  )

/** The text of an element of an answer; null where there is none. */
export const elementOf = (xml: string, name: string): string | null =>
  new RegExp(`<${name}>([^<]{1,1024})</${name}>`).exec(xml)?.[1]?.replaceAll("&quot;", "\"").replaceAll("&amp;", "&") ??
    null

/** The code of a refusal: a word, whatever the store answers. */
export const codeOf = (xml: string): string => /^\w{1,64}$/.exec(elementOf(xml, "Code") ?? "")?.[0] ?? "unknown"

/** Sends requests to the store; what is not answered with success fails. */
export const makeS3 = Effect.fnUntraced(function*(place: S3Place, { keyId, secret }: S3Credentials) {
  const client = yield* HttpClient.HttpClient

  const signed = Effect.fnUntraced(function*({ body = none, headers, method, name, query }: S3Request) {
    const url = new URL(`${place.endpoint}/${place.bucket}${name === null ? "" : `/${place.prefix}${name}`}`)
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value)
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": digest(body) },
      accessKeyId: keyId,
      secretAccessKey: Redacted.value(secret),
      service: "s3",
      region: place.region,
      datetime: signingTime(yield* Clock.currentTimeMillis),
      // A header that is not signed could be changed on its way.
      allHeaders: true
    })
    const sent = yield* Effect.promise(() => signer.sign())
    const request = HttpClientRequest.make(method)(sent.url, { headers: Object.fromEntries(sent.headers) })
    return body.length === 0 ? request : HttpClientRequest.bodyUint8Array(request, body)
  })

  const once = Effect.fnUntraced(function*(request: S3Request) {
    const response = yield* signed(request).pipe(
      Effect.flatMap(client.execute),
      Effect.timeout(request.body === undefined ? answerTime : sendTime),
      Effect.mapError(() => new S3Refused({ status: 0, code: "no_answer" }))
    )
    if (response.status >= 200 && response.status < 300) return response
    return yield* new S3Refused({ status: response.status, code: codeOf(yield* textOf(response)) })
  })

  return (request: S3Request) =>
    Effect.retry(once(request), { while: isPassing, times: repetitions, schedule: backoff })
})
export type S3 = Effect.Success<ReturnType<typeof makeS3>>
