import { Clock, Effect, Schema, Stream } from "effect"
import { readContent } from "../../archive/exports/ExportContents.ts"
import { exportZip, type MadePart } from "../../archive/exports/ExportZip.ts"
import { openAccount } from "../../archive/Reader.ts"
import { byCaller, record } from "../../changes/Record.ts"
import { type ExportId, type StoredPart, TargetExport } from "../../domain/archive/ArchiveExport.ts"
import { hex } from "../../domain/archive/Bytes.ts"
import { maxExportParts } from "../../domain/archive/ExportParts.ts"
import { type Content, ContentBroken } from "../../domain/Content.ts"
import { ExportExpired, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders, type Caller } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { noteUnreadable } from "../../kernel/runners/UnreadableNotes.ts"
import { ArchiveExports } from "../../ports/archive/ArchiveExports.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import type { Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import type { UnreadableFrames } from "../../ports/archive/ArchiveUnreadables.ts"
import { ExportTurns } from "../../ports/archive/ExportTurns.ts"
import { Db } from "../../ports/Db.ts"
import * as samples from "./exports.samples.ts"

const PartNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxExportParts }))

/** Journals the part that was sent to its end, and keeps its hash. */
const note = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  exportId: ExportId,
  { accountId, number }: StoredPart,
  made: MadePart
) {
  const { organizationId } = caller
  const db = yield* Db
  const exports = yield* ArchiveExports
  const reads = yield* ArchiveReads
  const at = new Date(yield* Clock.currentTimeMillis)
  const details = {
    part: number,
    messages: made.messages,
    files: made.files,
    bytes: made.size,
    sha256: hex(made.sha256)
  }
  yield* db.transaction(
    organizationId,
    Effect.andThen(
      exports.sent(organizationId, exportId, number, { ...made, at }),
      record(byCaller(caller), "archive_export.downloaded", { id: exportId }, details)
    )
  )
  yield* reads.note(caller, accountId, made.messages, 0)
})

export const downloadArchiveExportPart = Operation.stream(
  "download_archive_export_part",
  {
    summary: "Download a part of an export of the archive, as a ZIP that is made while it is sent.",
    description:
      "Its bytes are the same each time, unless something of it was deleted meanwhile; manifest.json says what it holds, what was deleted since the export was made, what could not be read, and the SHA-256 of each file. Its size is known only at the end, and a part of it cannot be asked for: a download that broke off begins again. Once it was sent to its end, get_archive_export shows its size and SHA-256, and the journal has them.",
    method: "GET",
    path: "/v1/archive/exports/:export_id/parts/:number",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: {
      export_id: TargetExport,
      number: PartNumber.annotateKey({ description: "The part's number, from get_archive_export." })
    },
    failures: [ResourceMissing, ExportExpired],
    sample: samples.downloadArchiveExportPart
  },
  Effect.fnUntraced(function*({ export_id, number }, { archive, caller, now }) {
    const { organizationId } = caller
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
    const closed = new ContentBroken({ reason: "the archive was closed before the part was made" })
    const made = archive.during(closed, (opened: Pick<Unlocked, "epochKey">) => {
      const missed: Array<UnreadableFrames> = []
      const open = openAccount({ organizationId, accountId: part.accountId }, {
        ...opened,
        missed: (account, number) => void missed.push({ account, number })
      })
      return Stream.unwrap(Effect.as(
        turns.take(organizationId),
        exportZip(found, part, open, readContent(open), (sent) => note(caller, export_id, part, sent))
      )).pipe(
        Stream.ensuring(Effect.suspend(() => missed.length === 0 ? Effect.void : noteUnreadable(caller, missed, now))),
        Stream.catchTag(
          "service_unavailable",
          () => Stream.fail(new ContentBroken({ reason: "the database or a turn is not there" }))
        ),
        Stream.provideContext(services)
      )
    })
    return {
      media_type: "application/zip",
      file_name: `archive-export-${export_id.slice(0, 8)}-${number}-of-${found.parts}.zip`,
      size: null,
      ranges: false,
      version: null,
      bytes: () => made
    } satisfies Content
  })
)

type Services =
  | Effect.Services<ReturnType<typeof note>>
  | Effect.Services<ReturnType<typeof noteUnreadable>>
  | Stream.Services<ReturnType<ReturnType<typeof readContent>>>
  | Stream.Services<ReturnType<typeof exportZip<never, never>>>
