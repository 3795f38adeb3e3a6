import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable, PasskeyNotManaged } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import type { PasskeyCandidate } from "../../domain/security/Secrets.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { sample } from "./remove_passkey.sample.ts"
import { type Removal, removing } from "./Removing.ts"
import { heldPasskey, keepFacets, leftBehind, looked, needing, ofAccount, seeSecurity } from "./Securing.ts"

const touched = ["passkeys"] as const
const removal = removing<PasskeyCandidate>("passkey", touched, "passkey_removed")

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
    sample,
    failures: [PasskeyNotManaged],
    journal: journalAction("passkey.removed")
  },
  {
    ...removal,
    look: (_, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const { passkey_ids } = seen.security
        if (passkey_ids === null) return yield* new MessengerUnavailable({})
        if (passkey_ids.length === 0) return Operation.unchanged(acted("passkey_removed", account, null, now))
        const secret = heldPasskey(seen)
        if (secret === undefined) return yield* new PasskeyNotManaged({})
        return Operation.planned<Removal<PasskeyCandidate> | null>({ seen, secret })
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { secret } = yield* looked(plan)
        yield* live.removePasskey(secret.passkeyId)
        return yield* leftBehind(live, { twoFaPasswords: [], passkeyIds: [] })
      })),
    settle: (plan, security, { account, caller }) =>
      needing(Effect.gen(function*() {
        const { secret } = yield* looked(plan)
        yield* (yield* Secrets).erase(ofAccount({ account, caller }), [secret.id])
        yield* keepFacets(security, touched, { account, caller })
        return {}
      }))
  }
)
