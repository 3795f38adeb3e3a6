import { Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ArchiveRule, archiveRule, RuleId } from "../../domain/archive/ArchiveRule.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import * as samples from "./rules.samples.ts"

export const listArchiveRules = Operation.read(
  "list_archive_rules",
  {
    summary: "List the rules that decide which chats are archived, the most general first.",
    description:
      "The most specific rule decides: of an account with the chat's id, of an account, of its department, of the organization; inside a level one that names the kind of chat. A chat without a rule waits for a decision. A caller who can access only some accounts sees the rules that concern these.",
    method: "GET",
    path: "/v1/archive/rules",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    query: {
      account_id: Schema.optionalKey(AccountId).annotateKey({
        description: "Only the rules in effect for this account, those of its department and organization among them."
      }),
      ...paging(RuleId, "rules", "rule")
    },
    success: PlainList(ArchiveRule).annotate({ identifier: "archive_rule_list" }),
    sample: samples.listArchiveRules,
    failures: [ParameterInvalid]
  },
  Effect.fnUntraced(function*({ account_id, limit = defaultPageLimit, starting_after }, { caller }) {
    if (account_id !== undefined && (yield* (yield* Accounts).find(caller, account_id, false)) === null) {
      return yield* new ParameterInvalid({ param: "account_id", message: "account_id: there is no such account." })
    }
    const rules = yield* ArchiveRules
    const found = yield* rules.list(caller, { accountId: account_id, after: starting_after, limit })
    const rows = yield* pageRows(found, "there is no such rule.")
    return page(rows.map(archiveRule), limit)
  })
)
