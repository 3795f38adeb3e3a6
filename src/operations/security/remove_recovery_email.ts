import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { TwoFaNotManaged } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { after, facetOf, finished } from "./EmailChanging.ts"
import { sample } from "./remove_recovery_email.sample.ts"
import {
  byLook,
  keepFacets,
  looked,
  managedPassword,
  needing,
  prepare,
  type SeenSecurity,
  seeSecurity
} from "./Securing.ts"

export const removeRecoveryEmail = Operation.guarded(
  "remove_recovery_email",
  {
    summary: "Remove the account's recovery address, and one that waits for its code.",
    description: "The service has to keep the 2FA password, but for an address that only waits.",
    method: "DELETE",
    path: "/v1/accounts/:account_id/recovery-email",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample,
    failures: [TwoFaNotManaged],
    journal: { action: "recovery_email.removed", target: "account" }
  },
  {
    ...byLook<SeenSecurity>("recovery_email_removed"),
    look: (_, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const { has_recovery, recovery_pending_pattern } = seen.security
        if (has_recovery === false && recovery_pending_pattern === null) {
          return Operation.unchanged(acted("recovery_email_removed", account, null, now))
        }
        // Without the password the messenger forgets an address that waits, and no other.
        if (has_recovery !== false) yield* managedPassword(seen)
        return Operation.planned<SeenSecurity | null>(seen)
      })),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        yield* prepare(yield* looked(plan), facetOf.recovery, { account, caller }, now)
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const seen = yield* looked(plan)
        if (seen.security.has_recovery === false) yield* live.cancelRecoveryEmail
        else {
          const { password } = yield* managedPassword(seen)
          yield* live.removeRecoveryEmail(password).pipe(
            Effect.catchTag("password_invalid", () => Effect.fail(new TwoFaNotManaged({})))
          )
        }
        return yield* after(live, seen)
      })),
    settle: (_, security, { account, caller }) =>
      needing(Effect.gen(function*() {
        yield* finished("recovery", { account, caller })
        yield* keepFacets(security, facetOf.recovery, { account, caller })
        return {}
      }))
  }
)
