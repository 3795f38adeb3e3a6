import { Effect } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { EmailRefused, TooManyAttempts, TwoFaNotManaged } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { EmailAddress, EmailChange } from "../../domain/security/Security.ts"
import * as Operation from "../../kernel/Operation.ts"
import { requesting } from "./EmailChanging.ts"
import { managedPassword } from "./Securing.ts"
import * as samples from "./security.samples.ts"

export const setRecoveryEmail = Operation.guarded(
  "set_recovery_email",
  {
    summary: "Ask the messenger to make an address the account's recovery address: it sends a code to it.",
    description:
      "The code is entered with confirm_recovery_email within 15 minutes. Five wrong ones end the change, and a new one replaces it. The service has to keep the 2FA password. An account takes five changes of its addresses in an hour.",
    method: "POST",
    path: "/v1/accounts/:account_id/recovery-email",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: {
      email: EmailAddress.annotateKey({ description: "The new address." })
    },
    success: EmailChange,
    sample: samples.setRecoveryEmail,
    failures: [TwoFaNotManaged, EmailRefused, TooManyAttempts],
    journal: { action: "recovery_email.requested", target: "account" }
  },
  requesting(
    "recovery",
    managedPassword,
    Effect.fnUntraced(function*(live, email, seen) {
      const { password: current } = yield* managedPassword(seen)
      return yield* live.setRecoveryEmail({ current, email }).pipe(
        Effect.catchTag("password_invalid", () => Effect.fail(new TwoFaNotManaged({})))
      )
    })
  )
)
