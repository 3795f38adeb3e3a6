/** An export of archived messages, made over the API and downloaded part by part; each part is whole, or is not there. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option, type Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { type ArchiveExport, ExportId, NewExportCriteria } from "../../../domain/archive/ArchiveExport.ts"
import * as Client from "../../../http/Client.ts"
import { refuse, Refused } from "../../../operator/UseCase.ts"
import { archivePasswordHeader } from "../../../transport/Extras.ts"
import { addressOf } from "../../process/ServiceAddress.ts"
import type { ExportFlags } from "./ExportCommand.ts"
import { digestFile } from "./FileDigest.ts"

/** A part breaks off where a connection does, or its service restarts: it begins again so many times. */
const attempts = 4
/** Seconds before a part that was refused for now is asked for again, where the service does not say. */
const pause = 5
const longestPause = 61

interface Session {
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

/** The refusal of an operation, or that there was no answer, in one line. */
const worded = (url: string) => <E>(error: E): Refused => {
  const isHttp = typeof error === "object" && error !== null && "_tag" in error && error._tag === "HttpClientError"
  return new Refused({
    message: isHttp || !(error instanceof Error) ? `There is no answer from ${url}.` : error.message
  })
}

const nameOf = ({ id, part_count }: ArchiveExport, number: number): string =>
  `archive-export-${id.slice(0, 8)}-${number}-of-${part_count}.zip`

/** Writes what the service sends into the file, which nobody else may read; answers its size and SHA-256. */
const fetchInto = Effect.fnUntraced(function*(session: Session, exportId: string, number: number, file: string) {
  const http = yield* HttpClient.HttpClient
  const broken = (seconds = pause) => () =>
    new PartBroken({ message: `Part ${number} broke off, and begins again.`, seconds })
  const response = yield* HttpClientRequest.get(`${session.url}/v1/archive/exports/${exportId}/parts/${number}`).pipe(
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
  const hash = crypto.createHash("sha256")
  let bytes = 0
  const onDisk = <A>(work: () => A) =>
    Effect.try({
      try: work,
      catch: (cause) => new Refused({ message: cause instanceof Error ? cause.message : `${file} cannot be written.` })
    })
  yield* Effect.acquireUseRelease(
    onDisk(() => fs.openSync(file, "w", 0o600)),
    (descriptor) =>
      Stream.runForEach(Stream.mapError(response.stream, broken()), (piece) =>
        onDisk(() => {
          fs.writeFileSync(descriptor, piece)
          hash.update(piece)
          bytes += piece.length
        })),
    (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
  )
  return { bytes, sha256: hash.digest("hex") }
})

/** Downloads a part under another name until it is whole, and as the service has journaled it. */
const download = Effect.fnUntraced(
  function*(session: Session, current: Effect.Effect<ArchiveExport, Refused>, made: ArchiveExport, number: number) {
    const file = path.join(session.directory, nameOf(made, number))
    const partial = `${file}.part`
    const known = made.parts.find((part) => part.number === number)
    if (known?.sha256 !== null && fs.existsSync(file)) {
      const there = yield* digestFile(file)
      if (there.sha256 === known?.sha256) return { file, ...there }
    }
    const whole = Effect.gen(function*() {
      const got = yield* fetchInto(session, made.id, number, partial)
      const sent = (yield* current).parts.find((part) => part.number === number)
      if (sent?.sha256 === got.sha256) return got
      return yield* new PartBroken({ message: `Part ${number} is not as it was sent, and begins again.`, seconds: 1 })
    })
    const tried = (left: number): Effect.Effect<
      Effect.Success<typeof whole>,
      Refused,
      Effect.Services<typeof whole>
    > =>
      Effect.catchTag(whole, "PartBroken", ({ message, seconds }) =>
        left === 1
          ? Effect.fail(
            new Refused({
              message: `Part ${number} breaks off again and again. Run the command again with --export ${made.id}.`
            })
          )
          : Effect.andThen(
            Effect.andThen(session.say(message), Effect.sleep(seconds * 1000)),
            Effect.suspend(() => tried(left - 1))
          ))
    const got = yield* tried(attempts).pipe(
      Effect.onError(() => Effect.sync(() => fs.rmSync(partial, { force: true })))
    )
    yield* Effect.sync(() => fs.renameSync(partial, file))
    yield* session.say(`Part ${number} of ${made.part_count}: ${got.bytes} bytes`)
    return { file, ...got }
  }
)

/** The secrets that go with the requests; the password is asked for once the flags are found good. */
interface Secrets<E, R> {
  readonly key: Option.Option<Redacted.Redacted>
  readonly password: Effect.Effect<Redacted.Redacted, E, R>
  readonly say: Session["say"]
}

const decodeCriteria = Schema.decodeUnknownEffect(NewExportCriteria)
const decodeId = Schema.decodeUnknownEffect(ExportId)

const exportId = (text: string) =>
  Effect.mapError(decodeId(text), () => new Refused({ message: "--export is the id of an export, a UUID." }))

/** The content of a new export; fails where a flag is no id or day. */
const newExport = ({ accounts, chats, format, noMedia, since, until }: ExportFlags) =>
  Effect.map(
    decodeCriteria({
      account_ids: accounts,
      ...(chats === null ? {} : { chat_ids: chats }),
      ...(since === null ? {} : { since }),
      ...(until === null ? {} : { until })
    }),
    (criteria) => ({ criteria, format, media: !noMedia })
  ).pipe(
    Effect.mapError(() =>
      new Refused({
        message:
          "--account and --chat are ids with commas between them, and --since and --until days such as 2026-01-31."
      })
    )
  )

/** Makes the export, unless it was made before, and downloads the parts that are not in the directory yet. */
export const exportInto = <E, R>(asked: ExportFlags, { key, password: given, say }: Secrets<E, R>) =>
  Effect.gen(function*() {
    const url = yield* addressOf(asked.url)
    if (Option.isNone(key)) return yield* refuse("An API key is needed, in the environment as CONSOLE_API_KEY.")
    if (Option.isNone(asked.made) && asked.accounts.length === 0) {
      return yield* refuse("--account names the accounts, or --export an export that was made before.")
    }
    if (!fs.existsSync(asked.to)) return yield* refuse(`${asked.to} is no directory.`)
    const wanted = yield* Option.isSome(asked.made) ? exportId(asked.made.value) : newExport(asked)
    const password = yield* given
    const client = yield* Client.make({ baseUrl: url, key: key.value })
    const find = (export_id: ExportId) =>
      Effect.mapError(client.get_archive_export({ params: { export_id } }), worded(url))
    const made: ArchiveExport = yield* typeof wanted === "string"
      ? find(wanted)
      : Effect.mapError(client.create_archive_export({ payload: wanted }), worded(url))
    const id = yield* exportId(made.id)
    const session: Session = { url, key: key.value, password, directory: asked.to, say }
    const parts = yield* Effect.forEach(made.parts, ({ number }) => download(session, find(id), made, number))
    return { export: made.id, messages: made.messages, files: made.files, parts }
  })

export const http = NodeHttpClient.layerNodeHttp
