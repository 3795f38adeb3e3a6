import { Effect } from "effect"
import { protectors } from "../../domain/Access.ts"
import { TargetAccount } from "../../domain/Account.ts"
import { EmailRefused, TooManyAttempts } from "../../domain/Failure.ts"
import { maskEmail } from "../../domain/Messenger.ts"
import { EmailAddress, EmailChange } from "../../domain/Security.ts"
import * as Operation from "../../kernel/Operation.ts"
import { after, begin, changeOf, counted, facetOf, shown } from "./EmailChanging.ts"
import { looked, needing, prepare, type Seen, seeSecurity } from "./Securing.ts"
import { sample } from "./set_login_email.sample.ts"

interface Plan {
  readonly email: string
  readonly seen: Seen | null
}

export const setLoginEmail = Operation.guarded(
  "set_login_email",
  {
    summary: "Ask the messenger to send login codes to another address: it sends a code to it.",
    description:
      "The account has to have a login address already. The code is entered with confirm_login_email within 15 minutes; five wrong ones end the change, and a new one replaces it. An account takes five changes of its addresses in an hour.",
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
    sample,
    failures: [EmailRefused, TooManyAttempts],
    journal: { action: "login_email.requested", target: "account" }
  },
  {
    check: ({ email }) => needing(Effect.succeed(Operation.planned<Plan>({ email, seen: null }))),
    look: ({ email }, { account, caller, live }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        yield* counted({ account, caller })
        return Operation.planned<Plan>({ email, seen })
      })),
    intent: ({ email }) => ({ details: { email: maskEmail(email) } }),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        yield* prepare(yield* looked(plan.seen), facetOf.login, { account, caller }, now)
      })),
    act: (plan, { live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* looked(plan.seen)
        const pending = yield* live.startLoginEmail(plan.email)
        return { change: changeOf("login", pending, now), security: yield* after(live, seen) }
      })),
    settle: (_, { change, security }, { account, caller }) => begin(change, security, { account, caller }),
    answer: (_, { change }, { account }) => needing(Effect.succeed(shown(change, account)))
  }
)
