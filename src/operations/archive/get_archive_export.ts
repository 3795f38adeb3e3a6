import { Effect } from "effect"
import { ArchiveExport, archiveExport, TargetExport } from "../../domain/archive/ArchiveExport.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveExports } from "../../ports/archive/ArchiveExports.ts"
import * as samples from "./exports.samples.ts"

export const getArchiveExport = Operation.read(
  "get_archive_export",
  {
    summary: "Get one export of the archive, with its parts.",
    method: "GET",
    path: "/v1/archive/exports/:export_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    params: { export_id: TargetExport },
    success: ArchiveExport,
    sample: samples.getArchiveExport,
    failures: [ResourceMissing]
  },
  Effect.fnUntraced(function*({ export_id }, { caller, now }) {
    const exports = yield* ArchiveExports
    const found = yield* exports.find(caller, export_id)
    if (found === null) return yield* new ResourceMissing({ param: "export_id" })
    return archiveExport(found, yield* exports.parts(caller.organizationId, export_id), now)
  })
)
