/** An export of archived messages, made over the API and downloaded part by part; each part is whole, or is not there. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option, type Redacted, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { type ArchiveExport, ExportId, NewExportCriteria, partFileName } from "../../../domain/archive/ArchiveExport.ts"
import * as Client from "../../../http/Client.ts"
import { refuse, Refused } from "../../../operator/UseCase.ts"
import { addressOf } from "../../process/ServiceAddress.ts"
import type { ExportFlags } from "./ExportCommand.ts"
import { digestFile } from "./FileDigest.ts"
import { downloadPart, type Session } from "./PartDownload.ts"

/** The refusal of an operation, or that there was no answer, in one line. */
const worded = (url: string) => <E>(error: E): Refused => {
  const isHttp = typeof error === "object" && error !== null && "_tag" in error && error._tag === "HttpClientError"
  return new Refused({
    message: isHttp || !(error instanceof Error) ? `There is no answer from ${url}.` : error.message
  })
}

/** The part that is there and as the service has sent it, or else downloads it under another name until it is. */
const download = Effect.fnUntraced(
  function*(session: Session, current: Effect.Effect<ArchiveExport, Refused>, made: ArchiveExport, number: number) {
    const file = path.join(session.directory, partFileName(made.id, number, made.part_count))
    const partial = `${file}.part`
    const known = made.parts.find((part) => part.number === number)
    if (known?.sha256 !== null && fs.existsSync(file)) {
      const there = yield* digestFile(file)
      if (there.sha256 === known?.sha256) return { file, ...there }
    }
    const got = yield* downloadPart(session, current, made, number, partial)
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
