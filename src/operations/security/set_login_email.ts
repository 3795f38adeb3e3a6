import { Effect } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { EmailRefused, TooManyAttempts } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { EmailAddress, EmailChange } from "../../domain/security/Security.ts"
import * as Operation from "../../kernel/Operation.ts"
import { requesting } from "./EmailChanging.ts"
import * as samples from "./security.samples.ts"

export const setLoginEmail = Operation.guarded(
  "set_login_email",
  {
    summary: "Ask the messenger to send login codes to another address: it sends a code to it.",
    description:
      "The code is entered with confirm_login_email within 15 minutes. Five wrong ones end the change, and a new one replaces it. The account has to have a login address already. An account takes five changes of its addresses in an hour.",
    method: "POST",
    path: "/v1/accounts/:account_id/login-email",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: {
      email: EmailAddress.annotateKey({ description: "The new address." })
    },
    success: EmailChange,
    sample: samples.setLoginEmail,
    failures: [EmailRefused, TooManyAttempts],
    journal: { action: "login_email.requested", target: "account" }
  },
  requesting("login", () => Effect.void, (live, email) => live.startLoginEmail(email))
)
