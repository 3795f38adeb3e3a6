import { Effect } from "effect"
import { AccountAction, accountName, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive } from "../../domain/Failure.ts"
import { reviewEnded } from "../../domain/mail/index.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import * as samples from "./accounts.samples.ts"

export const pauseProtection = Operation.write(
  "pause_protection",
  {
    summary: "Pause the protection of an account: it keeps its licence and its session, and nothing is signed out.",
    description: "Pausing ends no session of the service and frees no seat.",
    method: "POST",
    path: "/v1/accounts/:account_id/pause",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    confirm: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.pauseProtection,
    failures: [NotActive],
    journal: { action: "account.paused", target: "account" }
  },
  Effect.fnUntraced(function*({ account_id }, { account, caller, now }) {
    const accounts = yield* Accounts
    if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
    const sessions = yield* accounts.pause(caller.organizationId, account, now)
    const facts = {
      account: { id: account.id, name: accountName(account) },
      by: caller.adminName ?? caller.adminId,
      did: "paused" as const,
      sessions
    }
    return Operation.changed(
      { object: "account_action" as const, account_id, action: "paused", status: "paused" as const },
      {},
      undefined,
      [],
      sessions === 0 ? [] : [reviewEnded(facts)]
    )
  })
)
