import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { CodeInvalid, NoPendingChange } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { EmailCode } from "../../domain/security/Security.ts"
import * as Operation from "../../kernel/Operation.ts"
import { confirming } from "./EmailChanging.ts"
import * as samples from "./security.samples.ts"

export const confirmLoginEmail = Operation.guarded(
  "confirm_login_email",
  {
    summary: "Enter the code that the messenger sent to the account's new login address.",
    description: "After five wrong codes, or 15 minutes, the change is over.",
    method: "POST",
    path: "/v1/accounts/:account_id/login-email/confirm",
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
    sample: samples.confirmLoginEmail,
    failures: [NoPendingChange, CodeInvalid],
    journal: { action: "login_email.confirmed", target: "account" }
  },
  confirming("login", (live, code) => live.confirmLoginEmail(code))
)
