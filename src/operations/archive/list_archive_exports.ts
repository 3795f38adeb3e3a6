import { Effect } from "effect"
import { ArchiveExportSummary, ExportId, exportSummary } from "../../domain/archive/ArchiveExport.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveExports } from "../../ports/archive/ArchiveExports.ts"
import * as samples from "./exports.samples.ts"

export const listArchiveExports = Operation.read(
  "list_archive_exports",
  {
    summary: "List exports of the archive, the newest first, without their parts.",
    description:
      "Owners and superadmins see all, other admins their own; nobody those with an account that they cannot access. An export is listed until 30 days after its end.",
    method: "GET",
    path: "/v1/archive/exports",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    query: paging(ExportId, "exports", "export"),
    success: PlainList(ArchiveExportSummary).annotate({ identifier: "archive_export_list" }),
    sample: samples.listArchiveExports,
    failures: [ParameterInvalid]
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after }, { caller, now }) {
    const exports = yield* ArchiveExports
    const rows = yield* pageRows(
      yield* exports.list(caller, { after: starting_after, limit }),
      "there is no such export."
    )
    return page(rows.map((each) => exportSummary(each, now)), limit)
  })
)
