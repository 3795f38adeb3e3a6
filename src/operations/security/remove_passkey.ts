import { Effect } from "effect"
import { protectors } from "../../domain/Access.ts"
import { AccountAction, TargetAccount } from "../../domain/Account.ts"
import { MessengerUnavailable, PasskeyNotManaged } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/JournalEntry.ts"
import type { PasskeyCandidate } from "../../domain/Secrets.ts"
import { acted } from "../../domain/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Secrets } from "../../ports/Secrets.ts"
import { sample } from "./remove_passkey.sample.ts"
import {
  heldPasskey,
  keepFacets,
  leftBehind,
  looked,
  needing,
  ofAccount,
  prepare,
  type Seen,
  seeSecurity
} from "./Securing.ts"

interface Ready {
  readonly seen: Seen
  readonly passkey: PasskeyCandidate
}

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
    sample,
    failures: [PasskeyNotManaged],
    journal: journalAction("passkey.removed")
  },
  {
    check: () => needing(Effect.succeed(Operation.planned<Ready | null>(null))),
    look: (_, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const { passkey_ids } = seen.security
        if (passkey_ids === null) return yield* new MessengerUnavailable({})
        if (passkey_ids.length === 0) return Operation.unchanged(acted("passkey_removed", account, null, now))
        const passkey = heldPasskey(seen)
        if (passkey === undefined) return yield* new PasskeyNotManaged({})
        return Operation.planned<Ready | null>({ seen, passkey })
      })),
    intent: () => ({ details: {} }),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const { seen } = yield* looked(plan)
        yield* prepare(seen, touched, { account, caller }, now)
        yield* (yield* Secrets).suspend(ofAccount({ account, caller }), "passkey")
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { passkey } = yield* looked(plan)
        yield* live.removePasskey(passkey.passkeyId)
        return yield* leftBehind(live, { twoFaPasswords: [], passkeyIds: [] })
      })),
    settle: (plan, security, { account, caller }) =>
      needing(Effect.gen(function*() {
        const { passkey } = yield* looked(plan)
        yield* (yield* Secrets).erase(ofAccount({ account, caller }), [passkey.id])
        yield* keepFacets(security, touched, { account, caller })
        return {}
      })),
    failed: (plan, { certain }, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        if (!certain) return
        const { passkey } = yield* looked(plan)
        yield* (yield* Secrets).move(ofAccount({ account, caller }), [{ id: passkey.id, slot: "held" }], now)
      })),
    answer: (_, __, { account, now }) => needing(Effect.succeed(acted("passkey_removed", account, null, now)))
  }
)
