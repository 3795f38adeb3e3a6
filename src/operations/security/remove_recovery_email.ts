import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { TwoFaNotManaged } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { facetOf, finished, securityAfter } from "./EmailChanging.ts"
import { byLook, keepFacets, managedPassword, prepare, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

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
    sample: samples.removeRecoveryEmail,
    failures: [TwoFaNotManaged],
    journal: { action: "recovery_email.removed", target: "account" }
  },
  {
    ...byLook,
    look: (_, context) =>
      Effect.gen(function*() {
        const seen = yield* seeSecurity(context.live, context)
        const { has_recovery, recovery_pending_pattern } = seen.security
        if (has_recovery === false && recovery_pending_pattern === null) {
          return Operation.unchanged(acted("recovery_email_removed", context.account, null, context.now))
        }
        // Without the password the messenger forgets an address that waits, and no other.
        if (has_recovery !== false) yield* managedPassword(seen)
        return Operation.planned(seen)
      }),
    prepare: (seen, _, context) => prepare(seen, facetOf.recovery, context),
    act: (seen, { live }) =>
      Effect.gen(function*() {
        if (seen.security.has_recovery === false) yield* live.cancelRecoveryEmail
        else {
          const { password } = yield* managedPassword(seen)
          yield* live.removeRecoveryEmail(password).pipe(
            Effect.catchTag("password_invalid", () => Effect.fail(new TwoFaNotManaged({})))
          )
        }
        return yield* securityAfter(live, seen)
      }),
    settle: (_, security, context) =>
      Effect.gen(function*() {
        yield* finished("recovery", context)
        yield* keepFacets(security, facetOf.recovery, context)
        return {}
      }),
    answer: (_, __, { account, now }) => Effect.succeed(acted("recovery_email_removed", account, null, now))
  }
)
