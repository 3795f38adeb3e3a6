import { Effect } from "effect"
import { protectors } from "../../domain/Access.ts"
import { AccountAction, TargetAccount } from "../../domain/Account.ts"
import { CodeInvalid, NoPendingChange } from "../../domain/Failure.ts"
import { EmailCode } from "../../domain/Security.ts"
import { acted } from "../../domain/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { sample } from "./confirm_login_email.sample.ts"
import { after, attempt, confirmed, type Entered, facetOf, opened, refusedCode } from "./EmailChanging.ts"
import { needing, prepare, seeSecurity } from "./Securing.ts"

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
    idempotent: false,
    params: { account_id: TargetAccount },
    personal: "code",
    body: {
      code: EmailCode.annotateKey({ description: "The code from the mail that the messenger sent to the address." })
    },
    success: AccountAction,
    sample,
    failures: [NoPendingChange, CodeInvalid],
    journal: { action: "login_email.confirmed", target: "account" }
  },
  {
    check: ({ code }, { account, caller, now }) =>
      Effect.map(
        opened("login", { account, caller }, now),
        (change) => Operation.planned<Entered>({ code, change, seen: null })
      ),
    look: (plan, { account, caller, live }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        return Operation.planned<Entered>({ ...plan, seen })
      })),
    intent: ({ change }) => ({ details: { email: change.pattern } }),
    prepare: ({ seen }, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        if (seen !== null) yield* prepare(seen, facetOf.login, { account, caller }, now)
        yield* attempt("login", { account, caller })
      })),
    act: ({ code, seen }, { live }) => needing(Effect.andThen(live.confirmLoginEmail(code), after(live, seen))),
    settle: (_, security, { account, caller }) => confirmed("login", security, { account, caller }),
    failed: (plan, { error }, { account, caller, now }) => refusedCode("login", plan, error, { account, caller }, now),
    answer: (_, __, { account, now }) => needing(Effect.succeed(acted("login_email_confirmed", account, null, now)))
  }
)
