import { Effect, Schema } from "effect"
import {
  ArchiveCleanup,
  archiveCleanup,
  cleanupDay,
  cleanupDetails,
  NewCriteria,
  previewLifetime
} from "../../domain/archive/ArchiveCleanup.ts"
import { distinctAccounts, objectOf } from "../../domain/archive/ArchiveHold.ts"
import { ArchiveEmpty, ArchiveHeld, ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import * as samples from "./deleting.samples.ts"

export const previewArchiveCleanup = Operation.write(
  "preview_archive_cleanup",
  {
    summary: "Count what a cleanup of the archive would delete, without deleting anything.",
    description:
      "The preview can be confirmed for 15 minutes, by its phrase. What is archived after it is never deleted by it. Titles of chats stay, and with `before` members too; an edit is deleted with the day on which it was seen.",
    method: "POST",
    path: "/v1/archive/cleanups",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    idempotent: false,
    body: {
      criteria: NewCriteria.annotateKey({ description: "What it deletes." }),
      stop_saving: Schema.optionalKey(Schema.Boolean).annotateKey({
        description:
          "Whether nothing more of these chats is archived from the confirmation on; true by default. A rule for the one chat lets it go on."
      })
    },
    success: ArchiveCleanup,
    sample: samples.previewArchiveCleanup,
    failures: [ParameterInvalid, ResourceMissing, ArchiveHeld, ArchiveEmpty],
    journal: { action: "cleanup.previewed", target: "archive_cleanup" }
  },
  Effect.fnUntraced(function*({ criteria, stop_saving = true }, { caller, now }) {
    const { organizationId } = caller
    const accountIds = distinctAccounts(criteria.account_ids)
    const { before = null, chat_ids: chatIds = null } = criteria
    if (chatIds !== null && accountIds.length > 1) {
      return yield* new ParameterInvalid({
        param: "criteria",
        message: "criteria: there is no such chat, chat_ids are those of one account."
      })
    }
    const holds = yield* ArchiveHolds
    if (!(yield* holds.reaches(caller, accountIds))) return yield* new ResourceMissing({ param: "criteria" })
    const chosen = {
      accountIds,
      chatIds: chatIds === null ? null : chatIds.map(BigInt),
      before: before === null ? null : cleanupDay(before),
      mediaOnly: criteria.what === "media"
    }
    if (yield* holds.binds(organizationId, chosen)) return yield* new ArchiveHeld({})
    const cleanups = yield* ArchiveCleanups
    const { watermark, ...counts } = yield* cleanups.measure(organizationId, chosen)
    if (counts.messages + counts.files === 0) return yield* new ArchiveEmpty({})
    const cleanup = {
      ...chosen,
      ...counts,
      state: "previewed" as const,
      stopSaving: stop_saving,
      deletedMessages: 0,
      deletedBytes: 0,
      notBefore: null,
      expiresAt: new Date(now.getTime() + previewLifetime),
      createdBy: caller.adminId,
      createdAt: now,
      confirmedBy: null,
      startedAt: null,
      finishedAt: null,
      error: null
    }
    const id = yield* cleanups.add(organizationId, cleanup, watermark)
    return Operation.changed(archiveCleanup({ id, ...cleanup }, now), cleanupDetails(cleanup), objectOf(id, accountIds))
  })
)
