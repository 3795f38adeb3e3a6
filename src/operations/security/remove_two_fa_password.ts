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
import { sample } from "./remove_two_fa_password.sample.ts"
import { type Removal, removing } from "./Removing.ts"
import { keepFacets, leftBehind, looked, managedPassword, needing, ofAccount, seeSecurity } from "./Securing.ts"

const touched = ["two_fa", "recovery"] as const
const removal = removing<PasswordCandidate>("two_fa", touched, "two_fa_removed")

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
    sample,
    failures: [TwoFaNotManaged],
    journal: journalAction("two_fa.removed")
  },
  {
    ...removal,
    look: (_, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        return seen.security.two_fa_present === true
          ? Operation.planned<Removal<PasswordCandidate> | null>({ seen, secret: yield* managedPassword(seen) })
          : Operation.unchanged(acted("two_fa_removed", account, null, now))
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { secret } = yield* looked(plan)
        yield* live.removePassword(secret.password).pipe(
          Effect.catchTag("password_invalid", () => Effect.fail(new TwoFaNotManaged({})))
        )
        return yield* leftBehind(live, { twoFaPasswords: [], passkeyIds: [] })
      })),
    settle: (plan, security, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const context = { account, caller }
        const { secret } = yield* looked(plan)
        yield* (yield* Secrets).move(ofAccount(context), [{ id: secret.id, slot: "retired" }], now)
        yield* (yield* EmailChanges).end(ofAccount(context), "recovery")
        yield* keepFacets(security, touched, context)
        return {}
      }))
  }
)
