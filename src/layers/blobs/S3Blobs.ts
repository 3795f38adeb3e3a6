/** Objects in a bucket of an S3-compatible store. Their names are random, and what they hold is sealed. */
import { Data, Effect, Exit, Layer, Stream } from "effect"
import type { Headers, HttpClientResponse } from "effect/http"
import * as crypto from "node:crypto"
import { isBlobId } from "../../domain/archive/Blob.ts"
import type { ByteRange } from "../../domain/Content.ts"
import { now } from "../../domain/Moments.ts"
import { BlobStore, BlobStoreFailed, type StoredObject } from "../../ports/archive/BlobStore.ts"
import { hasLock, lockedUntil, type PutLock, putLock, type S3Lock } from "./S3Locks.ts"
import {
  codeOf,
  elementOf,
  makeS3,
  type S3,
  type S3Credentials,
  type S3Place,
  type S3Refused,
  type S3Request,
  textOf
} from "./S3Requests.ts"

export type { S3Credentials, S3Lock, S3Place }

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

const storeFailed = (what: string, why: BlobStoreFailed["why"] = "unavailable") => ({ code, status }: S3Refused) =>
  failed(why, `${what}: the store ${status === 0 ? "gave no answer" : `answered ${status} ${code}`}`)

const refused = (what: string) => (refusal: S3Refused): BlobStoreFailed =>
  refusal.status === 404 ? absent() : refusal.status === 416 ? wrongSize() : storeFailed(what)(refusal)

/** An object was not stored; the refusal of the condition says that there is one of the name. */
const notStored = (refusal: S3Refused) =>
  refusal.status === 412 ? present() : refused("An object was not stored")(refusal)

const notRemoved = (refusal: S3Refused) =>
  storeFailed("An object was not removed", refusal.status === 403 ? "refused" : "unavailable")(refusal)

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

/** Stores an object of several parts, which is there once all of them are; the headers of the store's last answer. */
const putParts = Effect.fnUntraced(function*<E, R>(
  s3: S3,
  name: string,
  put: string,
  locking: PutLock,
  size: number,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const begin = Effect.gen(function*() {
    const headers = { [putHeader]: put, ...locking.object }
    const response = yield* s3({ method: "POST", name, query: { uploads: "" }, headers })
    return elementOf(yield* textOf(response), "UploadId")
  })
  const uploadId = yield* Effect.mapError(begin, notStored)
  if (uploadId === null) return yield* failed("unavailable", "An object was not begun: the store named no upload")
  const etags: Array<string> = []
  const upload = Effect.fnUntraced(function*(body: Uint8Array) {
    const query = { partNumber: String(etags.length + 1), uploadId }
    const part = s3({ method: "PUT", name, query, headers: locking.body(body), body })
    const { headers } = yield* Effect.mapError(part, notStored)
    etags.push(headers["etag"] ?? "")
  })
  return yield* Effect.gen(function*() {
    yield* upload(yield* inParts(size, bytes, upload))
    const complete = s3({ method: "POST", name, query: { uploadId }, headers: onlyNew, body: completion(etags) })
    const response = yield* Effect.mapError(complete, notStored)
    // A store may find only after it has begun its answer that it cannot join the parts.
    const answer = yield* textOf(response)
    if (answer.includes("<CompleteMultipartUploadResult")) return response.headers
    return yield* failed("unavailable", `An object was not stored: the store answered ${codeOf(answer)}`)
  }).pipe(Effect.onError(() => Effect.ignore(s3({ method: "DELETE", name, query: { uploadId } }))))
})

const only = (blobId: string): StoredObject => ({ blobId, version: null })

const versionOf = (headers: Headers.Headers): string | null => headers["x-amz-version-id"] ?? null

/** Asks for a version. A bucket to which objects were moved may have others, and answers with its newest. */
const askVersion = (s3: S3, request: S3Request, version: string | null) =>
  version === null ? s3(request) : Effect.catchIf(
    s3({ ...request, query: { versionId: version } }),
    ({ status }) => status === 404 || status === 400,
    () => s3(request)
  )

/** The connection ended before the bytes did. */
class DownloadCut extends Data.TaggedError("DownloadCut") {}

/** The bytes of a range by one request. */
const readOnce = (s3: S3, { blobId, version }: StoredObject, { end, start }: ByteRange) => {
  const body = (
    response: HttpClientResponse.HttpClientResponse
  ): Stream.Stream<Uint8Array, BlobStoreFailed | DownloadCut> => {
    const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(response.headers["content-range"] ?? "") ?? []
    return Number(first) === start && Number(last) === end - 1
      ? Stream.mapError(response.stream, () => new DownloadCut())
      : Stream.fail(wrongSize())
  }
  const request = { method: "GET", name: blobId, headers: { range: `bytes=${start}-${end - 1}` } } as const
  const answer = Effect.mapError(askVersion(s3, request, version), refused("An object was not read"))
  return Stream.unwrap(Effect.map(answer, body)).pipe(
    Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.fail(new DownloadCut()) })
  )
}

/** The bytes of a range, which go on where a connection was cut. */
const read = (
  s3: S3,
  object: StoredObject,
  { end, start }: ByteRange,
  left = continuations
): Stream.Stream<Uint8Array, BlobStoreFailed> =>
  Stream.suspend(() => {
    let at = start
    const counted = Stream.mapEffect(readOnce(s3, object, { start, end }), (bytes) => {
      at += bytes.length
      return at > end ? Effect.fail(wrongSize()) : Effect.succeed(bytes)
    })
    const ended = Effect.suspend(() => at < end ? Effect.fail(new DownloadCut()) : Effect.void)
    return Stream.concat(counted, Stream.fromEffectDrain(ended)).pipe(
      Stream.catchTag("DownloadCut", () =>
        left === 0
          ? Stream.fail(failed("unavailable", "An object was not read to its end"))
          : read(s3, object, { start: at, end }, left - 1))
    )
  })

/**
 * The store of the objects under a prefix of a bucket. With a lock it stores each object under Object Lock. It removes
 * versions of locked objects, where the store would only hide them.
 */
export const layer = (place: S3Place, credentials: S3Credentials, lock: S3Lock | null = null) =>
  Layer.effect(
    BlobStore,
    Effect.gen(function*() {
      const s3 = yield* makeS3(place, credentials)

      /** Fails, and tells the operator, where the bucket has no Object Lock: objects would not be locked there. */
      const requireLocks = Effect.gen(function*() {
        const answer = yield* s3({ method: "GET", name: null, query: { "object-lock": "" } }).pipe(
          Effect.flatMap(textOf),
          Effect.catchIf(({ code }) => code === "ObjectLockConfigurationNotFoundError", () => Effect.succeed("")),
          Effect.mapError(storeFailed("The store does not say if the bucket has Object Lock"))
        )
        if (elementOf(answer, "ObjectLockEnabled") === "Enabled") return
        return yield* failed("unavailable", "The bucket has no Object Lock, which CONSOLE_BLOBS_LOCK needs")
      }).pipe(Effect.tapError((failure) => Effect.logError("No file is stored", failure)))
      const ready = lock === null
        ? Effect.void
        : yield* Effect.cachedWithTTL(requireLocks, (exit) => Exit.isSuccess(exit) ? Infinity : "1 minute")

      /** The headers of an object; null where it is not there. */
      const head = ({ blobId, version }: StoredObject) =>
        askVersion(s3, { method: "HEAD", name: blobId }, version).pipe(
          Effect.map(({ headers }) => headers),
          Effect.catchIf(({ status }) => status === 404, () => Effect.succeed(null))
        )
      const seen = (object: StoredObject) => Effect.mapError(head(object), storeFailed("An object was not looked for"))

      return BlobStore.of({
        isConfigured: true,
        put: Effect.fnUntraced(function*<E, R>(id: string, size: number, bytes: Stream.Stream<Uint8Array, E, R>) {
          const name = yield* checked(id)
          if (size > partSize * maxParts) return yield* wrongSize()
          yield* ready
          const put = crypto.randomUUID()
          const locking = putLock(lock, yield* now)
          const stored = size > partSize ? putParts(s3, name, put, locking, size, bytes) : Effect.gen(function*() {
            const body = yield* inParts(size, bytes, () => Effect.fail(wrongSize()))
            const headers = { ...onlyNew, [putHeader]: put, ...locking.object, ...locking.body(body) }
            const response = yield* Effect.mapError(s3({ method: "PUT", name, headers, body }), notStored)
            return response.headers
          })
          const headers = yield* Effect.catchIf(
            stored,
            (failure): failure is BlobStoreFailed => failure instanceof BlobStoreFailed,
            // After an attempt without an answer, the object that is there may be this one, which is whole then.
            (failure) =>
              head(only(name)).pipe(
                Effect.orElseSucceed(() => null),
                Effect.flatMap((found) => found?.[putHeader] === put ? Effect.succeed(found) : Effect.fail(failure))
              )
          )
          return { version: lock === null ? null : versionOf(headers), lockedUntil: locking.end }
        }),

        get: (object, range) =>
          Stream.unwrap(Effect.gen(function*() {
            yield* checked(object.blobId)
            if (range.end > range.start) return read(s3, object, range)
            return (yield* seen(object)) === null ? Stream.fail(absent()) : Stream.empty
          })),

        remove: Effect.fnUntraced(function*(object) {
          if (!isBlobId(object.blobId)) return null
          const headers = yield* Effect.mapError(head(object), notRemoved)
          if (headers === null) return null
          const isVersioned = lock !== null || object.version !== null || hasLock(headers)
          const version = isVersioned ? versionOf(headers) : null
          const until = lockedUntil(headers, yield* now)
          if (until !== null) return { version, lockedUntil: until }
          const query = version === null ? {} : { versionId: version }
          return yield* s3({ method: "DELETE", name: object.blobId, query }).pipe(
            Effect.catchIf(({ status }) => status === 404, () => Effect.void),
            Effect.mapError(notRemoved),
            Effect.as(null)
          )
        }),

        exists: (id) => isBlobId(id) ? Effect.map(seen(only(id)), (found) => found !== null) : Effect.succeed(false)
      })
    })
  )
