import { Effect } from "effect"
import { ArchiveCleanup, archiveCleanup, cleanupState, TargetCleanup } from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import { NotRunning, ResourceMissing } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import * as samples from "./deleting.samples.ts"

export const cancelArchiveCleanup = Operation.write(
  "cancel_archive_cleanup",
  {
    summary: "Cancel a cleanup that is previewed, queued or running.",
    description: "What is deleted stays deleted. Chats that it stopped are archived again.",
    method: "POST",
    path: "/v1/archive/cleanups/:cleanup_id/cancel",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    idempotent: true,
    params: { cleanup_id: TargetCleanup },
    success: ArchiveCleanup,
    sample: samples.cancelArchiveCleanup,
    failures: [ResourceMissing, NotRunning],
    journal: journalAction("cleanup.cancelled")
  },
  Effect.fnUntraced(function*({ cleanup_id }, { caller, now }) {
    const cleanups = yield* ArchiveCleanups
    const found = yield* cleanups.lock(caller, cleanup_id)
    if (found === null) return yield* new ResourceMissing({ param: "cleanup_id" })
    const state = cleanupState(found, now)
    if (state === "cancelled") return Operation.unchanged(archiveCleanup(found, now))
    if (state === "done" || state === "failed" || state === "expired") return yield* new NotRunning({})
    const deleted = yield* cleanups.end(caller.organizationId, found, "cancelled", null, now)
    const after = { ...found, state: "cancelled" as const, finishedAt: now }
    return Operation.changed(archiveCleanup(after, now), { ...deleted }, objectOf(cleanup_id, found.accountIds))
  })
)
