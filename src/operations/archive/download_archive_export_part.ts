import { Clock, Effect, Schema, Stream } from "effect"
import { reported } from "../../archive/exports/DownloadProgress.ts"
import { readContent } from "../../archive/exports/ExportContents.ts"
import type { ExportEnded } from "../../archive/exports/ExportFiles.ts"
import { type ExportTally, makeTally } from "../../archive/exports/ExportTally.ts"
import { exportZip, type MadePart } from "../../archive/exports/ExportZip.ts"
import type { KnownStart, PartChanged } from "../../archive/exports/ResumedPart.ts"
import { openAccount } from "../../archive/Reader.ts"
import { byCaller, record } from "../../changes/Record.ts"
import { type ExportId, partFileName, type StoredPart, TargetExport } from "../../domain/archive/ArchiveExport.ts"
import { hex } from "../../domain/archive/Bytes.ts"
import { maxExportParts } from "../../domain/archive/ExportParts.ts"
import { type Content, ContentBroken } from "../../domain/Content.ts"
import { ExportExpired, ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders, type Caller } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { noteUnreadable, noteUnreadableFiles } from "../../kernel/runners/UnreadableNotes.ts"
import { ArchiveExports, type KeepDownload } from "../../ports/archive/ArchiveExports.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import type { Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import type { UnreadableFrames } from "../../ports/archive/ArchiveUnreadables.ts"
import { ExportTurns } from "../../ports/archive/ExportTurns.ts"
import { Db } from "../../ports/Db.ts"
import * as samples from "./exports.samples.ts"
import { watched } from "./WatchedContent.ts"

/** No part is larger. */
const largestStart = 2 ** 40

const PartNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxExportParts }))

const invalid = (param: string, message: string) => new ParameterInvalid({ param, message: `${param}: ${message}` })

/** The bytes that the client has; each of the two says nothing without the other. */
const knownStart = (bytes: number | undefined, sha256: string | undefined) =>
  bytes !== undefined && sha256 !== undefined
    ? Effect.succeed<KnownStart | null>({ bytes, sha256 })
    : bytes === sha256
    ? Effect.succeed<KnownStart | null>(null)
    : Effect.fail(
      bytes === undefined
        ? invalid("after_bytes", "it is needed with after_sha256.")
        : invalid("after_sha256", "it is needed with after_bytes.")
    )

/** The archive was closed before the part was made, or its caller may not read it any more. */
class ArchiveLocked extends Schema.TaggedError<ArchiveLocked>()("ArchiveLocked", {}) {}

const locked = (): ArchiveLocked | ExportEnded | PartChanged => new ArchiveLocked({})

/** The reasons for what ends a part early, as the log has them. */
const reasons = {
  ArchiveLocked: "the archive was closed, or its caller may not read it any more, or has taken too long",
  PartChanged: "the part is not what its client has of it",
  StoreSilent: "the store of files does not answer",
  service_unavailable: "the database or a turn is not there"
} as const

/** Journals the part that was sent to its end, and keeps its hash. */
const note = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  exportId: ExportId,
  { accountId, number }: StoredPart,
  known: KnownStart | null,
  keep: KeepDownload,
  made: MadePart
) {
  const { organizationId } = caller
  const db = yield* Db
  const exports = yield* ArchiveExports
  const at = new Date(yield* Clock.currentTimeMillis)
  const details = {
    part: number,
    messages: made.messages,
    files: made.files,
    bytes: made.size,
    sha256: hex(made.sha256),
    ...(known === null ? {} : { after_bytes: known.bytes })
  }
  yield* db.transaction(
    organizationId,
    Effect.all([
      exports.sent(organizationId, exportId, number, caller, { ...made, at }),
      keep({ bytes: made.size, messages: made.messages, files: made.files, at, end: "sent" }),
      record(byCaller(caller), "archive_export.downloaded", { id: exportId, accountId }, details)
    ], { discard: true })
  )
})

/** Counts the messages that were sent. The read itself is stored already, so that nothing is held up where this fails. */
const countSent = Effect.fnUntraced(
  function*(caller: Caller["Service"], { accountId }: StoredPart, { sentMessages }: ExportTally) {
    if (sentMessages > 0) yield* (yield* ArchiveReads).note(caller, [{ accountId, messages: sentMessages }])
  },
  Effect.catchCause((cause) => Effect.logError("How much of a part of an export was read was not counted", cause))
)

/** Notes pages and contents of the part that did not open. */
const noteAll = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  { accountId }: StoredPart,
  pages: ReadonlyArray<UnreadableFrames>,
  fileIds: ReadonlyArray<string>,
  now: Date
) {
  if (pages.length > 0) yield* noteUnreadable(caller, pages, now)
  if (fileIds.length > 0) yield* noteUnreadableFiles(caller, accountId, fileIds)
})

export const downloadArchiveExportPart = Operation.stream(
  "download_archive_export_part",
  {
    summary: "Download a part of an export of the archive, as a ZIP that is made while it is sent.",
    description:
      "Its bytes are the same each time, unless something of it was deleted meanwhile; manifest.json says what it holds, what was deleted since the export was made, what could not be read, and the SHA-256 of each file. Its size is known only at the end, so that the header Range is not answered: a download that broke off goes on by after_bytes and after_sha256. While it is sent, get_archive_export shows how far it is, and afterwards its size and SHA-256, which the journal has too, or why it ended early.",
    method: "GET",
    path: "/v1/archive/exports/:export_id/parts/:number",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: {
      export_id: TargetExport,
      number: PartNumber.annotateKey({ description: "The part's number, from get_archive_export." })
    },
    query: {
      after_bytes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: largestStart })))
        .annotateKey({
          description: "Bytes of the part that are there from an earlier download; it goes on after them."
        }),
      after_sha256: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))).annotateKey({
        description:
          "SHA-256 of those bytes, in hexadecimal digits: where the part does not begin with them any more, nothing is sent."
      })
    },
    failures: [ParameterInvalid, ResourceMissing, ExportExpired],
    content: { mediaType: "application/zip", ranges: false },
    sample: samples.downloadArchiveExportPart
  },
  Effect.fnUntraced(function*({ after_bytes, after_sha256, export_id, number }, { archive, caller, now }) {
    const { organizationId } = caller
    const known = yield* knownStart(after_bytes, after_sha256)
    const db = yield* Db
    const exports = yield* ArchiveExports
    const turns = yield* ExportTurns
    const { found, parts } = yield* db.read(
      organizationId,
      Effect.all({ found: exports.find(caller, export_id), parts: exports.parts(organizationId, export_id) }, {
        concurrency: "unbounded"
      })
    )
    if (found === null) return yield* new ResourceMissing({ param: "export_id" })
    const part = parts.find((each) => each.number === number)
    if (part === undefined) return yield* new ResourceMissing({ param: "number" })
    const there = yield* db.read(organizationId, exports.accounts(caller, [part.accountId]))
    if (there.length === 0) return yield* new ResourceMissing({ param: "export_id" })
    if (found.expiresAt <= now) return yield* new ExportExpired({})
    yield* Effect.scoped(turns.take(organizationId))
    const services = yield* Effect.context<Services>()
    const make = (tally: ExportTally, keep: KeepDownload) =>
      archive.during(locked(), (opened: Pick<Unlocked, "epochKey">) => {
        const missed: Array<UnreadableFrames> = []
        const lost: Array<string> = []
        const open = openAccount({ organizationId, accountId: part.accountId }, {
          ...opened,
          missed: (account, number) => void missed.push({ account, number })
        })
        return Stream.unwrap(Effect.as(
          turns.take(organizationId),
          exportZip({
            made: found,
            part,
            open,
            read: readContent(open, (fileId) => void lost.push(fileId)),
            tally,
            known,
            end: (sent) => note(caller, export_id, part, known, keep, sent)
          })
        )).pipe(
          Stream.ensuring(
            Effect.suspend(() => archive.isReplaced ? Effect.void : noteAll(caller, part, missed, lost, now))
          )
        )
      })
    const made = Stream.unwrap(Effect.gen(function*() {
      const tally = makeTally()
      const keep = yield* exports.download(organizationId, export_id, number, caller)
      const bytes = watched(caller, part.accountId, locked, make(tally, keep))
      return reported(bytes, tally, (report) => db.transaction(organizationId, keep(report))).pipe(
        Stream.ensuring(Effect.suspend(() => countSent(caller, part, tally)))
      )
    })).pipe(
      Stream.mapError((failure) =>
        failure._tag === "ContentBroken" ? failure : new ContentBroken({ reason: reasons[failure._tag] })
      ),
      Stream.provideContext(services)
    )
    yield* (yield* ArchiveReads).note(caller, [{ accountId: part.accountId }])
    return {
      media_type: "application/zip",
      file_name: partFileName(export_id, number, found.parts),
      size: null,
      ranges: false,
      version: null,
      bytes: () => made
    } satisfies Content
  })
)

type Services =
  | Stream.Services<ReturnType<typeof watched<never, never>>>
  | Effect.Services<ReturnType<typeof note>>
  | Effect.Services<ReturnType<typeof countSent>>
  | Effect.Services<ReturnType<typeof noteAll>>
  | Stream.Services<ReturnType<ReturnType<typeof readContent>>>
  | Stream.Services<ReturnType<typeof exportZip<never, never>>>
