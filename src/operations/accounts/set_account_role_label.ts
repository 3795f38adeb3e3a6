import { Effect, Schema } from "effect"
import { account as show, ChangedAccount, TargetAccount } from "../../domain/accounts/Account.ts"
import { Text } from "../../domain/JsonShapes.ts"
import { maxRoleLabelLength } from "../../domain/Limits.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./accounts.samples.ts"

export const setAccountRoleLabel = Operation.write(
  "set_account_role_label",
  {
    summary: "Set the organization's own label of an account; empty or null clears it.",
    method: "PUT",
    path: "/v1/accounts/:account_id/role-label",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: {
      role_label: Schema.NullOr(Text(maxRoleLabelLength)).annotateKey({
        description: "The new label, such as Head of Sales; empty or null clears it."
      })
    },
    success: ChangedAccount,
    sample: samples.setAccountRoleLabel,
    journal: { action: "account.role_label_set", target: "account" }
  },
  Effect.fnUntraced(function*({ role_label }, { account, caller, now }) {
    const accounts = yield* Accounts
    const organizations = yield* Organizations
    const label = role_label === "" ? null : role_label
    const answer = show(
      { ...account, role_label: label },
      yield* organizations.facts(caller),
      caller,
      now
    )
    if (label === account.role_label) return Operation.unchanged(answer)
    yield* accounts.setRoleLabel(caller.organizationId, account, label)
    return Operation.changed(answer, label === null ? {} : { role_label: label })
  })
)
