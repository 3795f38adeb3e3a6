import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus } from "../../domain/accounts/ProtectionStatus.ts"
import { NotPaused } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import * as samples from "./accounts.samples.ts"

export const resumeProtection = Operation.write(
  "resume_protection",
  {
    summary: "Resume the protection of a paused account through the session that was kept.",
    method: "POST",
    path: "/v1/accounts/:account_id/resume",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.resumeProtection,
    failures: [NotPaused],
    journal: { action: "account.resumed", target: "account" }
  },
  Effect.fnUntraced(function*({ account_id }, { account, caller, now }) {
    const accounts = yield* Accounts
    if (deriveStatus(account, now) !== "paused") return yield* new NotPaused({})
    yield* accounts.resume(caller.organizationId, account, now)
    return Operation.changed({
      object: "account_action" as const,
      account_id,
      action: "resumed",
      status: "protected" as const
    })
  })
)
