import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable, PasskeyNotEligible, PasskeyUnsupported } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { PreparedPasskey } from "../../ports/messenger/MessengerSecurity.ts"
import { Passkeys } from "../../ports/security/AccountPasskeys.ts"
import { type SealedSecret, Secrets } from "../../ports/security/Secrets.ts"
import { sample } from "./add_passkey.sample.ts"
import {
  byLook,
  heldPasskey,
  keepFacets,
  leftBehind,
  looked,
  needing,
  ofAccount,
  prepare,
  type SeenSecurity,
  seeSecurity
} from "./Securing.ts"

interface Ready {
  readonly seen: SeenSecurity
  readonly passkey: PreparedPasskey
  readonly sealed: SealedSecret
}

const touched = ["passkeys"] as const

export const addPasskey = Operation.guarded(
  "add_passkey",
  {
    summary: "Add a passkey of the service's to the account, so that it can sign in where codes do not arrive.",
    description: "The messenger lets the service do so 24 hours after it connected. The key never leaves the service.",
    method: "PUT",
    path: "/v1/accounts/:account_id/passkey",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample,
    failures: [PasskeyNotEligible, PasskeyUnsupported],
    journal: { action: "passkey.added", target: "account" }
  },
  {
    ...byLook<Ready>("passkey_added"),
    look: (_, { account, caller, live, now }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const { passkey_eligible_at, passkey_ids } = seen.security
        if (passkey_ids === null) return yield* new MessengerUnavailable({})
        if (heldPasskey(seen) !== undefined) {
          return Operation.unchanged(acted("passkey_added", account, null, now))
        }
        const isEarly = passkey_eligible_at !== null && passkey_eligible_at.getTime() > now.getTime()
        if (isEarly && !(yield* live.hasOlderSession)) {
          return yield* new PasskeyNotEligible({
            message: `The messenger lets the service add a passkey from ${passkey_eligible_at.toISOString()} on.`
          })
        }
        const passkey = yield* (yield* Passkeys).make
        const sealed = yield* (yield* Secrets).seal(ofAccount({ account, caller }), {
          kind: "passkey",
          secret: passkey.key,
          passkeyId: passkey.id
        })
        return Operation.planned<Ready | null>({ seen, passkey, sealed })
      })),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const { sealed, seen } = yield* looked(plan)
        yield* prepare(seen, touched, { account, caller }, now)
        yield* (yield* Secrets).put(ofAccount({ account, caller }), sealed, "next", now)
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { passkey } = yield* looked(plan)
        yield* live.addPasskey(passkey)
        return yield* leftBehind(live, { twoFaPasswords: [], passkeyIds: [passkey.id] })
      })),
    settle: (plan, security, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const { sealed } = yield* looked(plan)
        yield* (yield* Secrets).move(ofAccount({ account, caller }), [{ id: sealed.id, slot: "held" }], now)
        yield* keepFacets(security, touched, { account, caller })
        return {}
      })),
    failed: (plan, { certain }, { account, caller }) =>
      needing(Effect.gen(function*() {
        if (!certain) return
        yield* (yield* Secrets).erase(ofAccount({ account, caller }), [(yield* looked(plan)).sealed.id])
      }))
  }
)
