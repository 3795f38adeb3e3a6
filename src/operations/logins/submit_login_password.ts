import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { HolderPassword, Login, TargetLogin } from "../../domain/logins/Login.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./logins.samples.ts"
import { refusals, submitting } from "./Submitting.ts"

const { enter, ...steps } = submitting("password")

export const submitLoginPassword = Operation.login(
  "submit_login_password",
  {
    summary:
      "Enter the 2FA password of the account's holder, where the messenger asks for it: it connects the account.",
    description:
      "Five wrong entries end the login, codes among them. The password is used for this once and is not kept. At its end the account holds a seat, and is watched at once.",
    method: "POST",
    path: "/v1/logins/:login_id/password",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: false,
    personal: "password",
    personalPage: "/console/logins/:login_id",
    params: { login_id: TargetLogin },
    body: { password: HolderPassword.annotateKey({ description: "The 2FA password of the account's holder." }) },
    success: Login,
    sample: samples.submitLoginPassword,
    failures: refusals,
    journal: journalAction("login.completed")
  },
  { ...steps, enter: ({ login_id, password }, context) => enter(login_id, password, context) }
)
