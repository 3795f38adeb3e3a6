import { Effect } from "effect"
import { ArchiveHold, archiveHold, objectOf, TargetHold } from "../../domain/archive/ArchiveHold.ts"
import { NotHeld, ResourceMissing } from "../../domain/Failure.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import * as samples from "./deleting.samples.ts"

export const releaseArchiveHold = Operation.write(
  "release_archive_hold",
  {
    summary: "Release a hold on the archive: its records may be deleted again.",
    description: "It deletes nothing by itself. A cleanup that the hold has stopped is previewed anew.",
    method: "POST",
    path: "/v1/archive/holds/:hold_id/release",
    toolset: "archive",
    scope: "archive:delete",
    roles: ["owner"],
    idempotent: true,
    params: { hold_id: TargetHold },
    success: ArchiveHold,
    sample: samples.releaseArchiveHold,
    failures: [ResourceMissing, NotHeld],
    journal: { action: "archive_hold.released", target: "archive_hold" }
  },
  Effect.fnUntraced(function*({ hold_id }, { caller, now }) {
    const holds = yield* ArchiveHolds
    const found = yield* holds.lock(caller, hold_id)
    if (found === null) return yield* new ResourceMissing({ param: "hold_id" })
    if (found.releasedAt !== null) return yield* new NotHeld({})
    yield* holds.release(caller.organizationId, hold_id, now)
    return Operation.changed(
      archiveHold({ ...found, releasedAt: now }),
      { name: found.name },
      objectOf(hold_id, found.accountIds)
    )
  })
)
