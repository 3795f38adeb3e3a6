import { Effect, Schema } from "effect"
import {
  ArchiveRule,
  archiveRule,
  MaxFileBytes,
  RuleMedia,
  RuleSelector,
  RuleTarget
} from "../../domain/archive/ArchiveRule.ts"
import { ChatEffect } from "../../domain/archive/Chat.ts"
import { NoArchivePlan, ParameterInvalid, ResourceMissing, RoleForbidden, RuleExists } from "../../domain/Failure.ts"
import { rulesOfTarget } from "../../domain/Limits.ts"
import { planHasArchive } from "../../domain/organization/Organization.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { mayChange, ruleDetails, ruleFor, ruleObject, scopeOf } from "./ArchiveRuleChanges.ts"
import * as samples from "./rules.samples.ts"

export const createArchiveRule = Operation.write(
  "create_archive_rule",
  {
    summary: "Make a rule that decides which chats are archived.",
    description:
      "It decides about the chats that are known and those that come, and deletes nothing that is archived. Owner and superadmins make rules of every level, others for single accounts that they can access. It is in force at once; where it concerns many chats, lists and counts follow within minutes.",
    method: "POST",
    path: "/v1/archive/rules",
    toolset: "archive",
    scope: "accounts:write",
    roles: archiveReaders,
    archive: true,
    idempotent: false,
    body: {
      target: RuleTarget.annotateKey({ description: "The accounts that it concerns." }),
      selector: RuleSelector.annotateKey({ description: "The chats that it concerns." }),
      effect: ChatEffect.annotateKey({
        description: "Whether the chats are archived, skipped, or wait for a decision."
      }),
      media: Schema.optionalKey(RuleMedia).annotateKey({
        description: "Whether their files are archived; all by default."
      }),
      max_file_bytes: Schema.optionalKey(MaxFileBytes).annotateKey({
        description: "The largest file that is archived, in bytes; null, as by default, without a limit."
      }),
      live: Schema.optionalKey(Schema.Boolean).annotateKey({
        description: "Whether new messages are archived as they arrive; true by default."
      })
    },
    success: ArchiveRule,
    sample: samples.createArchiveRule,
    failures: [ParameterInvalid, RoleForbidden, ResourceMissing, NoArchivePlan, RuleExists],
    journal: { action: "archive_rule.created", target: "archive_rule" }
  },
  Effect.fnUntraced(function*(
    { effect, live = true, max_file_bytes = null, media = "all", selector, target },
    { caller, now }
  ) {
    const { organizationId } = caller
    const rule = {
      ...(yield* ruleFor(target, selector)),
      effect,
      media,
      maxFileBytes: max_file_bytes,
      live,
      updatedAt: now,
      updatedBy: caller.adminId
    }
    yield* mayChange(caller, rule)
    const rules = yield* ArchiveRules
    const { isReached, made } = yield* Effect.all({
      isReached: rules.reaches(caller, rule),
      made: rules.ofTarget(organizationId, rule)
    }, { concurrency: "unbounded" })
    if (!isReached) return yield* new ResourceMissing({ param: "target" })
    if (!planHasArchive(yield* (yield* Organizations).facts(caller))) return yield* new NoArchivePlan({})
    if (made >= rulesOfTarget) {
      return yield* new ParameterInvalid({
        param: "target",
        message: `target: has ${rulesOfTarget} rules already, which is the most.`
      })
    }
    const id = yield* rules.add(organizationId, rule)
    if (id === null) return yield* new RuleExists({ param: "selector" })
    yield* rules.selectAgain(organizationId, scopeOf(rule), now)
    const stored = { id, ...rule }
    return Operation.changed(archiveRule(stored), ruleDetails(stored), ruleObject(stored))
  })
)
