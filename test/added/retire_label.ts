import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../src/domain/accounts/ProtectionStatus.ts"
import { NotActive, ParameterInvalid } from "../../src/domain/Failure.ts"
import { Text } from "../../src/domain/JsonShapes.ts"
import { maxRoleLabelLength } from "../../src/domain/Limits.ts"
import { superadmins } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { Accounts } from "../../src/ports/accounts/Accounts.ts"
import * as samples from "./added.samples.ts"

export const retireLabel = Operation.write(
  "retire_label",
  {
    summary: "Take an account's label away, and keep why.",
    method: "POST",
    path: "/v1/accounts/:account_id/retire-label",
    toolset: "accounts",
    scope: "accounts:write",
    roles: superadmins,
    destructive: true,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: { reason: Text(maxRoleLabelLength).annotateKey({ description: "Why, such as Left the board." }) },
    success: AccountAction,
    sample: samples.retireLabel,
    failures: [NotActive],
    journal: { action: "account.label_retired", target: "account" }
  },
  Effect.fnUntraced(function*({ account_id, reason }, { account, caller, now }) {
    const { role_label: label } = account
    if (reason === label) return yield* new ParameterInvalid({ param: "reason", message: "reason: says the label." })
    if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
    const answer = { object: "account_action" as const, account_id, action: "label_retired" }
    if (label === null) return Operation.unchanged(answer)
    const accounts = yield* Accounts
    yield* accounts.setRoleLabel(caller.organizationId, account, null)
    return Operation.changed(answer, { reason, label })
  })
)
