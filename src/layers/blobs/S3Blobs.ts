/** Objects in a bucket of an S3-compatible store. Their names are random, and what they hold is sealed. */
import { Data, Effect, Layer, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import * as crypto from "node:crypto"
import { isBlobId } from "../../domain/archive/Blob.ts"
import type { ByteRange } from "../../domain/Content.ts"
import { BlobStore, BlobStoreFailed } from "../../ports/archive/BlobStore.ts"
import {
  codeOf,
  elementOf,
  makeS3,
  type S3,
  type S3Credentials,
  type S3Place,
  type S3Refused,
  textOf
} from "./S3Requests.ts"

export type { S3Credentials, S3Place }

/** Bytes of a part, which is held in memory until the store has it. */
const partSize = 8 * 1024 * 1024
/** The most parts that a store takes. */
const maxParts = 10_000
/** The time without a byte after which a download has stopped. */
const silence = "30 seconds"
/** Times that a download which was cut goes on. */
const continuations = 3

/** Says which put an object is of. */
const putHeader = "x-amz-meta-put"
/** Makes a put fail where there is an object of the name. */
const onlyNew = { "if-none-match": "*" }

const failed = (why: BlobStoreFailed["why"], reason: string) => new BlobStoreFailed({ why, reason })

const absent = () => failed("missing", "An object is not there")
const wrongSize = () => failed("size", "An object has not the size that it was to have")
const present = () => failed("exists", "There is such an object already")

const refused = (what: string) => ({ code, status }: S3Refused): BlobStoreFailed =>
  status === 404
    ? absent()
    : status === 416
    ? wrongSize()
    : failed("unavailable", `${what}: the store ${status === 0 ? "gave no answer" : `answered ${status} ${code}`}`)

/** True if the refusal is that of a condition: there is an object of the name. */
const isTaken = ({ status }: S3Refused): boolean => status === 412

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const completion = (etags: ReadonlyArray<string>): Uint8Array =>
  new TextEncoder().encode(
    `<CompleteMultipartUpload>${
      etags.map((etag, place) => `<Part><PartNumber>${place + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`)
        .join("")
    }</CompleteMultipartUpload>`
  )

const checked = (id: string) => isBlobId(id) ? Effect.succeed(id) : Effect.fail(absent())

/** Collects bytes into parts of one size; each is passed on as it is full, and the rest at the end. */
const inParts = Effect.fnUntraced(function*<E, R>(
  size: number,
  bytes: Stream.Stream<Uint8Array, E, R>,
  upload: (part: Uint8Array) => Effect.Effect<void, BlobStoreFailed>
) {
  const buffer = new Uint8Array(Math.min(size, partSize))
  let filled = 0
  let seen = 0
  yield* Stream.runForEach(bytes, (chunk) =>
    Effect.gen(function*() {
      seen += chunk.length
      if (seen > size) return yield* wrongSize()
      for (let at = 0; at < chunk.length;) {
        if (filled === buffer.length) {
          yield* upload(buffer)
          filled = 0
        }
        const taken = chunk.subarray(at, at + buffer.length - filled)
        buffer.set(taken, filled)
        filled += taken.length
        at += taken.length
      }
    }))
  if (seen !== size) return yield* wrongSize()
  return buffer.subarray(0, filled)
})

/** Stores an object of several parts, which is there once all of them are. */
const putParts = Effect.fnUntraced(function*<E, R>(
  s3: S3,
  name: string,
  put: string,
  size: number,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const notStored = refused("An object was not stored")
  const begin = Effect.gen(function*() {
    const response = yield* s3({ method: "POST", name, query: { uploads: "" }, headers: { [putHeader]: put } })
    return elementOf(yield* textOf(response), "UploadId")
  })
  const uploadId = yield* Effect.mapError(begin, notStored)
  if (uploadId === null) return yield* failed("unavailable", "An object was not begun: the store named no upload")
  const etags: Array<string> = []
  const upload = Effect.fnUntraced(function*(body: Uint8Array) {
    const query = { partNumber: String(etags.length + 1), uploadId }
    const { headers } = yield* Effect.mapError(s3({ method: "PUT", name, query, body }), notStored)
    etags.push(headers["etag"] ?? "")
  })
  yield* Effect.gen(function*() {
    yield* upload(yield* inParts(size, bytes, upload))
    const complete = s3({ method: "POST", name, query: { uploadId }, headers: onlyNew, body: completion(etags) })
    const response = yield* Effect.mapError(complete, (failure) => isTaken(failure) ? present() : notStored(failure))
    // A store may find only after it has begun its answer that it cannot join the parts.
    const answer = yield* textOf(response)
    if (answer.includes("<Error>")) {
      return yield* failed("unavailable", `An object was not stored: the store answered ${codeOf(answer)}`)
    }
  }).pipe(Effect.onError(() => Effect.ignore(s3({ method: "DELETE", name, query: { uploadId } }))))
})

/** The connection ended before the bytes did. */
class DownloadCut extends Data.TaggedError("DownloadCut") {}

/** The bytes of a range by one request. */
const readOnce = (s3: S3, name: string, { end, start }: ByteRange) => {
  const body = (
    response: HttpClientResponse.HttpClientResponse
  ): Stream.Stream<Uint8Array, BlobStoreFailed | DownloadCut> => {
    const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(response.headers["content-range"] ?? "") ?? []
    return Number(first) === start && Number(last) === end - 1
      ? Stream.mapError(response.stream, () => new DownloadCut())
      : Stream.fail(wrongSize())
  }
  const request = s3({ method: "GET", name, headers: { range: `bytes=${start}-${end - 1}` } })
  return Stream.unwrap(Effect.map(Effect.mapError(request, refused("An object was not read")), body)).pipe(
    Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.fail(new DownloadCut()) })
  )
}

/** The bytes of a range, which go on where a connection was cut. */
const read = (
  s3: S3,
  name: string,
  { end, start }: ByteRange,
  left = continuations
): Stream.Stream<Uint8Array, BlobStoreFailed> =>
  Stream.suspend(() => {
    let at = start
    const counted = Stream.mapEffect(readOnce(s3, name, { start, end }), (bytes) => {
      at += bytes.length
      return at > end ? Effect.fail(wrongSize()) : Effect.succeed(bytes)
    })
    const ended = Effect.suspend(() => at < end ? Effect.fail(new DownloadCut()) : Effect.void)
    return Stream.concat(counted, Stream.fromEffectDrain(ended)).pipe(
      Stream.catchTag("DownloadCut", () =>
        left === 0
          ? Stream.fail(failed("unavailable", "An object was not read to its end"))
          : read(s3, name, { start: at, end }, left - 1))
    )
  })

/** The store of the objects under a prefix of a bucket. */
export const layer = (place: S3Place, credentials: S3Credentials) =>
  Layer.effect(
    BlobStore,
    Effect.gen(function*() {
      const s3 = yield* makeS3(place, credentials)

      const head = (id: string) =>
        s3({ method: "HEAD", name: id }).pipe(
          Effect.mapError(refused("An object was not looked for")),
          Effect.map(({ headers }) => ({ put: headers[putHeader] ?? null })),
          Effect.catchIf(({ why }) => why === "missing", () => Effect.succeed(null))
        )

      const drop = (id: string) =>
        Effect.asVoid(s3({ method: "DELETE", name: id })).pipe(
          Effect.mapError(refused("An object was not removed")),
          Effect.catchIf(({ why }) => why === "missing", () => Effect.void)
        )

      /** Removes what a put that failed may have stored: another one's object stays. */
      const undo = (id: string, put: string) =>
        Effect.flatMap(head(id), (found) => found?.put === put ? drop(id) : Effect.void)

      return BlobStore.of({
        isConfigured: true,
        put: Effect.fnUntraced(function*<E, R>(id: string, size: number, bytes: Stream.Stream<Uint8Array, E, R>) {
          const name = yield* checked(id)
          if (size > partSize * maxParts) return yield* wrongSize()
          const put = crypto.randomUUID()
          const stored = size > partSize ? putParts(s3, name, put, size, bytes) : Effect.gen(function*() {
            const body = yield* inParts(size, bytes, () => Effect.fail(wrongSize()))
            yield* Effect.mapError(
              s3({ method: "PUT", name, headers: { ...onlyNew, [putHeader]: put }, body }),
              (failure) => isTaken(failure) ? present() : refused("An object was not stored")(failure)
            )
          })
          yield* stored.pipe(
            // After an attempt without an answer, the object that is there may be this one.
            Effect.catchIf(
              (failure): failure is BlobStoreFailed => failure instanceof BlobStoreFailed && failure.why === "exists",
              (failure) =>
                Effect.flatMap(head(name), (found) => found?.put === put ? Effect.void : Effect.fail(failure))
            ),
            Effect.onError(() => Effect.ignore(undo(name, put)))
          )
        }),

        get: (id, range) =>
          Stream.unwrap(Effect.gen(function*() {
            const name = yield* checked(id)
            if (range.end > range.start) return read(s3, name, range)
            return (yield* head(name)) === null ? Stream.fail(absent()) : Stream.empty
          })),

        remove: (id) => isBlobId(id) ? drop(id) : Effect.void,

        exists: (id) => isBlobId(id) ? Effect.map(head(id), (found) => found !== null) : Effect.succeed(false)
      })
    })
  )
