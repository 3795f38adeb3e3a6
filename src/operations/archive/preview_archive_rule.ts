import { Effect } from "effect"
import { ArchiveRulePreview, RuleSelector, RuleTarget } from "../../domain/archive/ArchiveRule.ts"
import { ChatEffect } from "../../domain/archive/Chat.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import { ruleFor } from "./ArchiveRuleChanges.ts"
import * as samples from "./rules.samples.ts"

export const previewArchiveRule = Operation.read(
  "preview_archive_rule",
  {
    summary: "Count what a rule of the archive would decide, without making it.",
    description:
      "Of the chats that are known of these accounts. A rule for the same accounts and chats is thought to be replaced by it.",
    method: "POST",
    path: "/v1/archive/rule-preview",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    body: {
      target: RuleTarget.annotateKey({ description: "The accounts that it concerns." }),
      selector: RuleSelector.annotateKey({ description: "The chats that it concerns." }),
      effect: ChatEffect.annotateKey({
        description: "Whether the chats are archived, skipped, or wait for a decision."
      })
    },
    success: ArchiveRulePreview,
    sample: samples.previewArchiveRule,
    failures: [ParameterInvalid, ResourceMissing]
  },
  Effect.fnUntraced(function*({ effect, selector, target }, { caller, now }) {
    const rule = {
      ...(yield* ruleFor(target, selector)),
      effect,
      media: "all" as const,
      maxFileBytes: null,
      live: true,
      updatedAt: now,
      updatedBy: caller.adminId
    }
    const rules = yield* ArchiveRules
    if (!(yield* rules.reaches(caller, rule))) return yield* new ResourceMissing({ param: "target" })
    return { object: "archive_rule_preview" as const, ...(yield* rules.preview(caller.organizationId, rule)) }
  })
)
