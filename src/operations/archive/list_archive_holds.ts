import { Effect } from "effect"
import { ArchiveHold, archiveHold, HoldId } from "../../domain/archive/ArchiveHold.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import * as samples from "./deleting.samples.ts"

export const listArchiveHolds = Operation.read(
  "list_archive_holds",
  {
    summary: "List the holds on the archive, released ones too, the newest first.",
    description:
      "Of the days and accounts of a hold nothing is deleted until it is released. A caller who can access only some accounts sees the holds of these.",
    method: "GET",
    path: "/v1/archive/holds",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    query: paging(HoldId, "holds", "hold"),
    success: PlainList(ArchiveHold).annotate({ identifier: "archive_hold_list" }),
    sample: samples.listArchiveHolds,
    failures: [ParameterInvalid]
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after }, { caller }) {
    const found = yield* (yield* ArchiveHolds).list(caller, { after: starting_after, limit })
    const rows = yield* pageRows(found, "there is no such hold.")
    return page(rows.map(archiveHold), limit)
  })
)
