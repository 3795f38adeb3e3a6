/** One part of an export, downloaded into a file under another name until it is whole; what breaks off is gone on with. */
import { Clock, Duration, Effect, Option, type Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as fs from "node:fs"
import type { ArchiveExport } from "../../../domain/archive/ArchiveExport.ts"
import { Refused } from "../../../operator/UseCase.ts"
import { archivePasswordHeader } from "../../../transport/Extras.ts"
import { readDigest, RunningDigest } from "./FileDigest.ts"

/** Attempts in a row that bring nothing: a part breaks off where a connection does, or its service restarts. */
const attempts = 4
/** Seconds before a part that was refused for now is asked for again, where the service does not say. */
const pause = 5
const longestPause = 61

/** Between two lines about a part that is being downloaded. */
const spoken = Duration.toMillis("10 seconds")

export interface Session {
  readonly url: string
  readonly key: Redacted.Redacted
  readonly password: Redacted.Redacted
  readonly directory: string
  readonly say: (line: string) => Effect.Effect<void>
}

/** Something that passes: the part is asked for again after so many seconds. */
class PartBroken extends Schema.TaggedError<PartBroken>()("PartBroken", {
  message: Schema.String,
  seconds: Schema.Finite
}) {}

const ErrorAnswer = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))
const readError = Schema.decodeUnknownOption(ErrorAnswer)

const onDisk = <A>(file: string, work: () => A) =>
  Effect.try({
    try: work,
    catch: (cause) => new Refused({ message: cause instanceof Error ? cause.message : `${file} cannot be written.` })
  })

/** The beginning of a part that is in a file, which nobody else may read, and its digest. */
interface Start {
  readonly file: string
  digest: RunningDigest
}

const emptied = (start: Start): void => {
  fs.rmSync(start.file, { force: true })
  start.digest = new RunningDigest()
}

/** The start that an earlier run has left. */
const readStart = (file: string) =>
  Effect.suspend(() => fs.existsSync(file) ? readDigest(file) : Effect.succeed(new RunningDigest())).pipe(
    Effect.map((digest): Start => ({ file, digest }))
  )

const megabytes = (bytes: number): string => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`

/** Writes what follows the start behind it. */
const fetchRest = Effect.fnUntraced(function*(session: Session, made: ArchiveExport, number: number, start: Start) {
  const http = yield* HttpClient.HttpClient
  const broken = (seconds = pause) => () => new PartBroken({ message: `Part ${number} broke off.`, seconds })
  const response = yield* HttpClientRequest.get(`${session.url}/v1/archive/exports/${made.id}/parts/${number}`).pipe(
    HttpClientRequest.setUrlParams(
      start.digest.bytes === 0 ? {} : { after_bytes: start.digest.bytes, after_sha256: start.digest.sha256 }
    ),
    HttpClientRequest.bearerToken(session.key),
    HttpClientRequest.setHeaders(archivePasswordHeader(session.password)),
    http.execute,
    Effect.mapError(broken())
  )
  if (response.status === 429 || response.status >= 500) {
    const seconds = Number(response.headers["retry-after"] ?? pause)
    return yield* broken(seconds >= 1 ? Math.min(seconds, longestPause) : pause)()
  }
  if (response.status !== 200) {
    const text = yield* Effect.mapError(response.text, broken())
    return yield* new Refused({
      message: Option.match(readError(text), {
        onNone: () => `${session.url} answers ${response.status}.`,
        onSome: ({ error }) => error.message
      })
    })
  }
  const part = made.parts.find((each) => each.number === number)
  let spokenAt = yield* Clock.currentTimeMillis
  const { file } = start
  yield* Effect.acquireUseRelease(
    onDisk(file, () => fs.openSync(file, "a", 0o600)),
    (descriptor) =>
      Stream.runForEach(
        Stream.mapError(response.stream, broken()),
        Effect.fnUntraced(function*(piece) {
          yield* onDisk(file, () => {
            fs.writeFileSync(descriptor, piece)
            start.digest.add(piece)
          })
          const now = yield* Clock.currentTimeMillis
          if (now - spokenAt < spoken) return
          spokenAt = now
          yield* session.say(
            `Part ${number} of ${made.part_count}: ${megabytes(start.digest.bytes)} of about ${
              megabytes(part?.bytes ?? part?.bytes_estimate ?? 0)
            }`
          )
        })
      ),
    (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
  )
})

/**
 * Downloads the part until the file has what the service has journaled. An attempt after which there is more of it counts
 * for nothing; what is there stays for a later run where attempts do not help.
 */
export const downloadPart = Effect.fnUntraced(function*<E, R>(
  session: Session,
  current: Effect.Effect<ArchiveExport, E, R>,
  made: ArchiveExport,
  number: number,
  file: string
) {
  const start = yield* readStart(file)
  const now = Effect.map(current, ({ parts }) => parts.find((part) => part.number === number))
  const attempt = Effect.gen(function*() {
    const before = start.digest.bytes
    yield* Effect.tapErrorTag(
      fetchRest(session, made, number, start),
      "PartBroken",
      () =>
        before === 0 || start.digest.bytes > before ? Effect.void : Effect.map(now, (part) => {
          if (part?.latest_download?.reason === "changed") emptied(start)
        })
    )
    const { bytes, sha256 } = start.digest
    if ((yield* now)?.sha256 === sha256) return { bytes, sha256 }
    yield* Effect.sync(() => emptied(start))
    return yield* new PartBroken({ message: `Part ${number} is not as it was sent.`, seconds: 1 })
  })
  let left = attempts
  let most = start.digest.bytes
  yield* Effect.addFinalizer(() => Effect.sync(() => start.digest.bytes === 0 && emptied(start)))
  while (true) {
    const tried = yield* Effect.result(attempt)
    if (tried._tag === "Success") return tried.success
    const { failure } = tried
    if (!(failure instanceof PartBroken)) return yield* Effect.fail(failure)
    left = start.digest.bytes > most ? attempts : left - 1
    most = Math.max(most, start.digest.bytes)
    if (left === 0) {
      return yield* new Refused({
        message:
          `Part ${number} breaks off again and again. Run the command again with --export ${made.id}: it goes on where it is.`
      })
    }
    yield* session.say(
      `${failure.message} ${start.digest.bytes === 0 ? "It begins again." : "It goes on where it was."}`
    )
    yield* Effect.sleep(failure.seconds * 1000)
  }
}, Effect.scoped)
