import { Effect, Schema } from "effect"
import { ArchiveCleanup, archiveCleanup, CleanupId, CleanupState } from "../../domain/archive/ArchiveCleanup.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import * as samples from "./deleting.samples.ts"

export const listArchiveCleanups = Operation.read(
  "list_archive_cleanups",
  {
    summary: "List the cleanups of the archive, the newest first.",
    description: "A caller who can access only some accounts sees the cleanups of these.",
    method: "GET",
    path: "/v1/archive/cleanups",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    query: {
      state: Schema.optionalKey(CleanupState).annotateKey({ description: "Only those in this state." }),
      ...paging(CleanupId, "cleanups", "cleanup")
    },
    success: PlainList(ArchiveCleanup).annotate({ identifier: "archive_cleanup_list" }),
    sample: samples.listArchiveCleanups,
    failures: [ParameterInvalid]
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after, state }, { caller, now }) {
    const cleanups = yield* ArchiveCleanups
    const found = yield* cleanups.list(caller, { state, after: starting_after, limit }, now)
    const rows = yield* pageRows(found, "there is no such cleanup.")
    return page(rows.map((cleanup) => archiveCleanup(cleanup, now)), limit)
  })
)
