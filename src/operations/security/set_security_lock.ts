import { Effect, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import * as samples from "./security.samples.ts"

export const setSecurityLock = Operation.write(
  "set_security_lock",
  {
    summary: "Set an account's security lock: while it is on, a session that nobody approved is signed out on sight.",
    description: "Sessions that were seen before keep their deadlines.",
    method: "PUT",
    path: "/v1/accounts/:account_id/security-lock",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    confirm: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: { enabled: Schema.Boolean.annotateKey({ description: "Whether the lock is on." }) },
    success: AccountAction,
    sample: samples.setSecurityLock,
    failures: [NotActive],
    journal: { action: "security_lock.set", target: "account" }
  },
  Effect.fnUntraced(function*({ enabled }, { account, caller, now }) {
    const accounts = yield* Accounts
    if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
    const answer = acted(enabled ? "security_lock_enabled" : "security_lock_disabled", account, null, now)
    if (account.security_lock === enabled) return Operation.unchanged(answer)
    yield* accounts.setSecurityLock(caller.organizationId, account, enabled)
    return Operation.changed(answer, { enabled })
  })
)
