import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable, PasskeyNotManaged } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import type { PasskeyCandidate } from "../../domain/security/Secrets.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { removing } from "./Removing.ts"
import { heldPasskey, keepFacets, leftBehind, ofAccount, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

const touched = ["passkeys"] as const

export const removePasskey = Operation.guarded(
  "remove_passkey",
  {
    summary: "Remove the service's passkey from the account, and forget its key.",
    description: "Passkeys of the holder's stay.",
    method: "DELETE",
    path: "/v1/accounts/:account_id/passkey",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.removePasskey,
    failures: [PasskeyNotManaged],
    journal: journalAction("passkey.removed")
  },
  {
    ...removing<PasskeyCandidate>("passkey", touched, "passkey_removed"),
    look: (_, context) =>
      Effect.gen(function*() {
        const seen = yield* seeSecurity(context.live, context)
        const { passkey_ids } = seen.security
        if (passkey_ids === null) return yield* new MessengerUnavailable({})
        if (passkey_ids.length === 0) {
          return Operation.unchanged(acted("passkey_removed", context.account, null, context.now))
        }
        const secret = heldPasskey(seen)
        if (secret === undefined) return yield* new PasskeyNotManaged({})
        return Operation.planned({ seen, secret })
      }),
    act: ({ secret }, { live }) =>
      Effect.andThen(
        live.removePasskey(secret.passkeyId),
        leftBehind(live, { twoFaPasswords: [], passkeyIds: [] })
      ),
    settle: ({ secret }, security, context) =>
      Effect.gen(function*() {
        yield* (yield* Secrets).erase(ofAccount(context), [secret.id])
        yield* keepFacets(security, touched, context)
        return {}
      })
  }
)
