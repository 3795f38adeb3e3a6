import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { TwoFaNotManaged } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import type { PasswordCandidate } from "../../domain/security/Secrets.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { EmailChanges } from "../../ports/security/EmailChanges.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { removing } from "./Removing.ts"
import { keepFacets, leftBehind, managedPassword, ofAccount, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

const touched = ["two_fa", "recovery"] as const

export const removeTwoFaPassword = Operation.guarded(
  "remove_two_fa_password",
  {
    summary: "Remove the 2FA password that the service keeps from the account, and the recovery address with it.",
    description: "A password that the service does not keep is its holder's, and stays.",
    method: "DELETE",
    path: "/v1/accounts/:account_id/two-fa",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.removeTwoFaPassword,
    failures: [TwoFaNotManaged],
    journal: journalAction("two_fa.removed")
  },
  {
    ...removing<PasswordCandidate>("two_fa", touched, "two_fa_removed"),
    look: (_, context) =>
      Effect.gen(function*() {
        const seen = yield* seeSecurity(context.live, context)
        return seen.security.two_fa_present === true
          ? Operation.planned({ seen, secret: yield* managedPassword(seen) })
          : Operation.unchanged(acted("two_fa_removed", context.account, null, context.now))
      }),
    act: ({ secret }, { live }) =>
      live.removePassword(secret.password).pipe(
        Effect.catchTag("password_invalid", () => Effect.fail(new TwoFaNotManaged({}))),
        Effect.andThen(leftBehind(live, { twoFaPasswords: [], passkeyIds: [] }))
      ),
    settle: ({ secret }, security, context) =>
      Effect.gen(function*() {
        yield* (yield* Secrets).move(ofAccount(context), [{ id: secret.id, slot: "retired" }], context.now)
        yield* (yield* EmailChanges).end(ofAccount(context), "recovery")
        yield* keepFacets(security, touched, context)
        return {}
      })
  }
)
