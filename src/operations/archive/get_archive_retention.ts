import { Effect } from "effect"
import { ArchiveRetention, archiveRetention } from "../../domain/archive/Retention.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRetentions } from "../../ports/archive/ArchiveRetentions.ts"
import * as samples from "./deleting.samples.ts"

export const getArchiveRetention = Operation.read(
  "get_archive_retention",
  {
    summary: "Get for how long the organization keeps what is archived.",
    method: "GET",
    path: "/v1/archive/retention",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    success: ArchiveRetention,
    sample: samples.getArchiveRetention
  },
  Effect.fnUntraced(function*(_, { caller }) {
    return archiveRetention(yield* (yield* ArchiveRetentions).find(caller.organizationId))
  })
)
