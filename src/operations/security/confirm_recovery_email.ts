import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { CodeInvalid, NoPendingChange } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { EmailCode } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { sample } from "./confirm_recovery_email.sample.ts"
import { confirming, type EnteredCode } from "./EmailChanging.ts"
import { needing, seeSecurity } from "./Securing.ts"

export const confirmRecoveryEmail = Operation.guarded(
  "confirm_recovery_email",
  {
    summary: "Enter the code that the messenger sent to the account's new recovery address.",
    description: "After five wrong codes, or 15 minutes, the change is over.",
    method: "POST",
    path: "/v1/accounts/:account_id/recovery-email/confirm",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    confirm: true,
    idempotent: false,
    params: { account_id: TargetAccount },
    personal: "code",
    personalPage: "/console/accounts/:account_id/security",
    body: {
      code: EmailCode.annotateKey({ description: "The code from the mail that the messenger sent to the address." })
    },
    success: AccountAction,
    sample,
    failures: [NoPendingChange, CodeInvalid],
    journal: { action: "recovery_email.confirmed", target: "account" }
  },
  {
    ...confirming("recovery", (live, code) => live.confirmRecoveryEmail(code)),
    look: (plan, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const { recovery_email_pattern, recovery_pending_pattern } = seen.security
        // An earlier code was right, but its answer was lost.
        return recovery_pending_pattern === null && recovery_email_pattern === plan.change.pattern
          ? Operation.unchanged(acted("recovery_email_confirmed", account, null, now))
          : Operation.planned<EnteredCode>({ ...plan, seen })
      }))
  }
)
