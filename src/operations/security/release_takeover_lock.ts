import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { NotLocked } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import * as samples from "./security.samples.ts"

export const releaseTakeoverLock = Operation.write(
  "release_takeover_lock",
  {
    summary: "Release the lock that a stopped takeover left, so that the holder can sign in again.",
    description:
      "Release it first, and only then hand out the account's two-factor password. While the lock is on, anyone who signs in is signed out at once, for 48 hours at most. The status stays hijack_blocked for its 48 hours.",
    method: "POST",
    path: "/v1/accounts/:account_id/takeover-lock/release",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    confirm: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.releaseTakeoverLock,
    failures: [NotLocked],
    journal: { action: "takeover.lock_released", target: "account" }
  },
  Effect.fnUntraced(function*(_, { account, caller, now }) {
    const accounts = yield* Accounts
    if (account.locked_at === null) return yield* new NotLocked({})
    yield* accounts.releaseTakeoverLock(caller.organizationId, account)
    return Operation.changed(acted("takeover_lock_released", account, null, now))
  })
)
