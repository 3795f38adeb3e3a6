import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { CodeInvalid, NoPendingChange } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { EmailCode } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { confirming } from "./EmailChanging.ts"
import { seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

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
    sample: samples.confirmRecoveryEmail,
    failures: [NoPendingChange, CodeInvalid],
    journal: { action: "recovery_email.confirmed", target: "account" }
  },
  {
    ...confirming("recovery", (live, code) => live.confirmRecoveryEmail(code)),
    look: (entered, context) =>
      Effect.gen(function*() {
        const seen = yield* seeSecurity(context.live, context)
        const { recovery_email_pattern, recovery_pending_pattern } = seen.security
        // An earlier code was right, but its answer was lost.
        return recovery_pending_pattern === null && recovery_email_pattern === entered.change.pattern
          ? Operation.unchanged(acted("recovery_email_confirmed", context.account, null, context.now))
          : Operation.planned({ ...entered, seen })
      })
  }
)
