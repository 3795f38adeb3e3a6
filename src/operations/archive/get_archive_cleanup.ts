import { Effect } from "effect"
import { ArchiveCleanup, archiveCleanup, TargetCleanup } from "../../domain/archive/ArchiveCleanup.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import * as samples from "./deleting.samples.ts"

export const getArchiveCleanup = Operation.read(
  "get_archive_cleanup",
  {
    summary: "Get one cleanup of the archive, with how far it is.",
    method: "GET",
    path: "/v1/archive/cleanups/:cleanup_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    params: { cleanup_id: TargetCleanup },
    success: ArchiveCleanup,
    sample: samples.getArchiveCleanup,
    failures: [ResourceMissing]
  },
  Effect.fnUntraced(function*({ cleanup_id }, { caller, now }) {
    const found = yield* (yield* ArchiveCleanups).find(caller, cleanup_id)
    if (found === null) return yield* new ResourceMissing({ param: "cleanup_id" })
    return archiveCleanup(found, now)
  })
)
