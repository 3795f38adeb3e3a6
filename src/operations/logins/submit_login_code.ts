import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { HolderCode, Login, TargetLogin } from "../../domain/logins/Login.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./logins.samples.ts"
import { refusals, submitting } from "./Submitting.ts"

const { enter, ...steps } = submitting("code")

export const submitLoginCode = Operation.login(
  "submit_login_code",
  {
    summary: "Enter the code that the account's holder got: it connects the account, or the 2FA password is asked for.",
    description:
      "An account that has a 2FA password goes on with submit_login_password. Five wrong entries end the login. At its end the account holds a seat, and is watched at once.",
    method: "POST",
    path: "/v1/logins/:login_id/code",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: false,
    personal: "code",
    personalPage: "/console/logins/:login_id",
    params: { login_id: TargetLogin },
    body: { code: HolderCode.annotateKey({ description: "The code, as the messenger sent it to the holder." }) },
    success: Login,
    sample: samples.submitLoginCode,
    failures: refusals,
    journal: journalAction("login.completed")
  },
  { ...steps, enter: ({ code, login_id }, context) => enter(login_id, code, context) }
)
