import { Effect } from "effect"
import { beginWholeDeletion } from "../../archive/WholeDeletion.ts"
import { ConfirmPhrase, isConfirmed } from "../../domain/archive/ConfirmPhrase.ts"
import { ArchiveEmpty, ArchiveHeld, ConfirmPhraseInvalid } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { archivePhase, Organization, organization } from "../../domain/organization/Organization.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./archive.samples.ts"

export const deleteWholeArchive = Operation.write(
  "delete_whole_archive",
  {
    summary: "Delete everything that the organization has archived, of all accounts.",
    description:
      "It cannot be undone: the keys are deleted at once, and nothing of the archive can be read from then on, by anyone; what they opened is deleted soon after, until the phase is `deleted`. The accounts stay. Nothing more is archived before the owner sets a new archive password.",
    method: "POST",
    path: "/v1/archive/delete",
    toolset: "archive",
    scope: "archive:delete",
    roles: ["owner"],
    whole: true,
    destructive: true,
    idempotent: true,
    personal: "confirm_phrase",
    personalIsArgument: true,
    personalPage: "/console/organization/delete-archive",
    body: {
      confirm_phrase: ConfirmPhrase.annotateKey({
        description:
          "The words `delete archive` and the organization's id, such as `delete archive demo`: typed by the owner, never filled in for them."
      })
    },
    success: Organization,
    sample: samples.deleteWholeArchive,
    failures: [ConfirmPhraseInvalid, ArchiveHeld, ArchiveEmpty],
    journal: journalAction("archive.deletion_started")
  },
  Effect.fnUntraced(function*({ confirm_phrase }, { caller, now }) {
    const { organizationId } = caller
    if (!isConfirmed(confirm_phrase, { kind: "archive", organizationId })) {
      return yield* new ConfirmPhraseInvalid({ param: "confirm_phrase" })
    }
    const organizations = yield* Organizations
    const facts = yield* organizations.lockFacts(organizationId)
    const phase = archivePhase(facts, now)
    // Time alone makes the phase `deleting` too: then nothing was begun.
    if (phase === "deleting" && facts.archive_deletion_started_at !== null && facts.archive_deleted_at === null) {
      return Operation.unchanged(organization(facts, now))
    }
    if (phase === "empty" || phase === "deleted") return yield* new ArchiveEmpty({})
    const begun = yield* beginWholeDeletion(organizationId, now)
    if (begun === null) return yield* new ArchiveHeld({})
    const after = {
      ...facts,
      archive_key_set: false,
      archive_deletion_started_at: now,
      archive_deleted_at: null
    }
    return Operation.changed(organization(after, now), begun)
  })
)
