import { Effect, Schema } from "effect"
import type { StoredCleanup } from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import {
  ArchiveRetention,
  archiveRetention,
  ChosenTierDays,
  isSameKept,
  isShorter,
  keepsAll,
  keptDays,
  keptDetails,
  keptWords,
  RetentionDays,
  retentionDeletes
} from "../../domain/archive/Retention.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { retentionSet } from "../../domain/mail/index.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRetentions } from "../../ports/archive/ArchiveRetentions.ts"
import * as samples from "./deleting.samples.ts"

/** The entry of a cleanup that has deleted nothing. */
const cancelled = ({ accountIds, id }: Pick<StoredCleanup, "accountIds" | "id">) => ({
  journal: journalAction("cleanup.cancelled"),
  targetId: id,
  accountId: objectOf(id, accountIds).accountId ?? null,
  details: { pages: 0, messages: 0, files: 0, bytes: 0 }
})

export const setArchiveRetention = Operation.write(
  "set_archive_retention",
  {
    summary: "Set for how long the organization keeps what is archived.",
    description:
      "What was sent before so many days is deleted once a week, by cleanups that are listed with the others from 7 days before they begin: the owner is mailed what they delete, and until then each can be cancelled. Holds are looked at when they are queued and while they delete; accounts of which a hold keeps something that is due are left alone until it is released. A change of the retention cancels those that have not begun. Nothing more is archived of the past because of it.",
    method: "PUT",
    path: "/v1/archive/retention",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    whole: true,
    destructive: true,
    idempotent: true,
    body: {
      days: RetentionDays.annotateKey({ description: "Days to keep, 30 to 36500; null keeps everything." }),
      tier_days: Schema.optionalKey(ChosenTierDays).annotateKey({
        description:
          "Days to keep for accounts of a licence tier, where that is longer than `days`: by `protect`, `archive` and `governance`, 30 to 36500 each; null keeps everything of them. Tiers that are not named have `days`."
      })
    },
    success: ArchiveRetention,
    sample: samples.setArchiveRetention,
    failures: [],
    journal: { action: "archive_retention.set", target: "organization" }
  },
  Effect.fnUntraced(function*({ days, tier_days = {} }, { caller, now }) {
    const { adminId, adminName, organizationId } = caller
    const retentions = yield* ArchiveRetentions
    const [before, waiting] = yield* Effect.all(
      [retentions.lock(organizationId), retentions.lockWaiting(organizationId)],
      { concurrency: "unbounded" }
    )
    const kept = keptDays(days, tier_days)
    if (isSameKept(kept, before)) return Operation.unchanged(archiveRetention(before))
    yield* retentions.cancelWaiting(organizationId, now)
    const ended = waiting.map(cancelled)
    if (keepsAll(kept)) {
      yield* retentions.set(organizationId, null)
      return Operation.changed(archiveRetention(null), {}, undefined, ended)
    }
    const beginsAt = retentionDeletes(now)
    const after = { ...kept, setBy: adminId, setAt: now, beginsAt }
    yield* retentions.set(organizationId, after)
    const facts = { by: adminName ?? adminId, kept: keptWords(kept), begins: beginsAt.toISOString().slice(0, 10) }
    return Operation.changed(
      archiveRetention(after),
      keptDetails(kept),
      undefined,
      ended,
      isShorter(kept, before) ? [retentionSet(facts)] : []
    )
  })
)
