import { Effect } from "effect"
import { DeletedArchiveRule, TargetRule } from "../../domain/archive/ArchiveRule.ts"
import { ResourceMissing, RoleForbidden } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import { mayChange, ruleDetails, ruleObject } from "./ArchiveRuleChanges.ts"
import * as samples from "./rules.samples.ts"

export const deleteArchiveRule = Operation.write(
  "delete_archive_rule",
  {
    summary: "Delete a rule of the archive: a more general one decides from then on.",
    description:
      "Nothing that is archived is deleted. That is in force at once; where the rule concerned many chats, lists and counts follow within minutes.",
    method: "DELETE",
    path: "/v1/archive/rules/:rule_id",
    toolset: "archive",
    scope: "accounts:write",
    roles: archiveReaders,
    archive: true,
    idempotent: true,
    params: { rule_id: TargetRule },
    success: DeletedArchiveRule,
    sample: samples.deleteArchiveRule,
    failures: [ResourceMissing, RoleForbidden],
    journal: { action: "archive_rule.deleted", target: "archive_rule" }
  },
  Effect.fnUntraced(function*({ rule_id }, { caller, now }) {
    const rules = yield* ArchiveRules
    const found = yield* rules.lock(caller, rule_id)
    if (found === null) return yield* new ResourceMissing({ param: "rule_id" })
    yield* mayChange(caller, found)
    yield* rules.remove(caller.organizationId, rule_id)
    yield* rules.selectAgain(caller.organizationId, { ...found, chatId: null }, now)
    return Operation.changed(
      { object: "archive_rule" as const, id: rule_id, deleted: true as const },
      ruleDetails(found),
      ruleObject(found)
    )
  })
)
