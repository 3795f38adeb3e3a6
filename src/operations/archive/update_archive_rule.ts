import { Effect, Schema } from "effect"
import { ArchiveRule, archiveRule, MaxFileBytes, RuleMedia, TargetRule } from "../../domain/archive/ArchiveRule.ts"
import { ChatEffect } from "../../domain/archive/Chat.ts"
import { ResourceMissing, RoleForbidden } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import { mayChange, ruleDetails, ruleObject, scopeOf } from "./ArchiveRuleChanges.ts"
import * as samples from "./rules.samples.ts"

export const updateArchiveRule = Operation.write(
  "update_archive_rule",
  {
    summary: "Change what a rule of the archive decides; what is left out stays as it is.",
    description:
      "Its accounts and chats stay: for others, make another rule. Nothing that is archived is deleted. The change is in force at once; where it concerns many chats, lists and counts follow within minutes.",
    method: "PATCH",
    path: "/v1/archive/rules/:rule_id",
    toolset: "archive",
    scope: "accounts:write",
    roles: archiveReaders,
    archive: true,
    idempotent: true,
    params: { rule_id: TargetRule },
    body: {
      effect: Schema.optionalKey(ChatEffect).annotateKey({
        description: "Whether the chats are archived, skipped, or wait for a decision."
      }),
      media: Schema.optionalKey(RuleMedia).annotateKey({ description: "Whether their files are archived." }),
      max_file_bytes: Schema.optionalKey(MaxFileBytes).annotateKey({
        description: "The largest file that is archived, in bytes; null without a limit."
      }),
      live: Schema.optionalKey(Schema.Boolean).annotateKey({
        description: "Whether new messages are archived as they arrive."
      })
    },
    success: ArchiveRule,
    sample: samples.updateArchiveRule,
    failures: [ResourceMissing, RoleForbidden],
    journal: { action: "archive_rule.updated", target: "archive_rule" }
  },
  Effect.fnUntraced(function*({ rule_id, ...patch }, { caller, now }) {
    const rules = yield* ArchiveRules
    const found = yield* rules.lock(caller, rule_id)
    if (found === null) return yield* new ResourceMissing({ param: "rule_id" })
    yield* mayChange(caller, found)
    const { effect = found.effect, live = found.live, max_file_bytes = found.maxFileBytes, media = found.media } = patch
    const same = effect === found.effect && live === found.live && media === found.media &&
      max_file_bytes === found.maxFileBytes
    const scope = scopeOf({ ...found, effect })
    if (same && (scope.chatId === null || !(yield* rules.isStopped(caller.organizationId, scope)))) {
      return Operation.unchanged(archiveRule(found))
    }
    const changed = {
      ...found,
      effect,
      live,
      media,
      maxFileBytes: max_file_bytes,
      updatedAt: now,
      updatedBy: caller.adminId
    }
    yield* rules.change(caller.organizationId, changed)
    yield* rules.selectAgain(caller.organizationId, scope, now)
    return Operation.changed(archiveRule(changed), ruleDetails(changed), ruleObject(changed))
  })
)
