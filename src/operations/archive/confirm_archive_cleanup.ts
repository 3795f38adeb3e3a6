import { Effect } from "effect"
import {
  ArchiveCleanup,
  archiveCleanup,
  cleanupDetails,
  cleanupState,
  cleanupSubject,
  TargetCleanup
} from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import { ConfirmPhrase, isConfirmed } from "../../domain/archive/ConfirmPhrase.ts"
import {
  ArchiveHeld,
  CleanupExpired,
  ConfirmPhraseInvalid,
  NotPreviewed,
  ResourceMissing
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import * as samples from "./deleting.samples.ts"

export const confirmArchiveCleanup = Operation.write(
  "confirm_archive_cleanup",
  {
    summary: "Confirm a previewed cleanup: what it names is deleted from then on.",
    description:
      "It cannot be undone. It deletes in batches and can be cancelled meanwhile; what is deleted stays deleted. A hold that is placed meanwhile stops it.",
    method: "POST",
    path: "/v1/archive/cleanups/:cleanup_id/confirm",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    personal: "confirm_phrase",
    personalIsArgument: true,
    personalPage: "/console/archive-cleanups/:cleanup_id",
    params: { cleanup_id: TargetCleanup },
    body: {
      confirm_phrase: ConfirmPhrase.annotateKey({
        description:
          "The preview's `confirm_phrase`, such as `delete 10 messages from 1 account`: typed by the person who deletes, never filled in for them."
      })
    },
    success: ArchiveCleanup,
    sample: samples.confirmArchiveCleanup,
    failures: [ResourceMissing, ConfirmPhraseInvalid, NotPreviewed, CleanupExpired, ArchiveHeld],
    journal: journalAction("cleanup.confirmed")
  },
  Effect.fnUntraced(function*({ cleanup_id, confirm_phrase }, { caller, now }) {
    const { adminId, organizationId } = caller
    const cleanups = yield* ArchiveCleanups
    const found = yield* cleanups.lock(caller, cleanup_id)
    if (found === null) return yield* new ResourceMissing({ param: "cleanup_id" })
    if (!isConfirmed(confirm_phrase, cleanupSubject(found))) {
      return yield* new ConfirmPhraseInvalid({ param: "confirm_phrase" })
    }
    const state = cleanupState(found, now)
    if (state === "queued" || state === "running") return Operation.unchanged(archiveCleanup(found, now))
    if (state === "expired") return yield* new CleanupExpired({})
    if (state !== "previewed") return yield* new NotPreviewed({})
    if (yield* (yield* ArchiveHolds).binds(organizationId, found)) return yield* new ArchiveHeld({})
    yield* cleanups.confirm(organizationId, found, adminId)
    const after = { ...found, state: "queued" as const, confirmedBy: adminId }
    return Operation.changed(archiveCleanup(after, now), cleanupDetails(found), objectOf(cleanup_id, found.accountIds))
  })
)
