import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable, PasskeyNotEligible, PasskeyUnsupported } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Passkeys } from "../../ports/security/AccountPasskeys.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { byLook, heldPasskey, keepFacets, leftBehind, ofAccount, prepare, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

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
    sample: samples.addPasskey,
    failures: [PasskeyNotEligible, PasskeyUnsupported],
    journal: { action: "passkey.added", target: "account" }
  },
  {
    ...byLook,
    look: (_, context) =>
      Effect.gen(function*() {
        const { account, live, now } = context
        const seen = yield* seeSecurity(live, context)
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
        const sealed = yield* (yield* Secrets).seal(ofAccount(context), {
          kind: "passkey",
          secret: passkey.key,
          passkeyId: passkey.id
        })
        return Operation.planned({ seen, passkey, sealed })
      }),
    prepare: ({ sealed, seen }, _, context) =>
      Effect.gen(function*() {
        yield* prepare(seen, touched, context)
        yield* (yield* Secrets).put(ofAccount(context), sealed, "next", context.now)
      }),
    act: ({ passkey }, { live }) =>
      Effect.andThen(
        live.addPasskey(passkey),
        leftBehind(live, { twoFaPasswords: [], passkeyIds: [passkey.id] })
      ),
    settle: ({ sealed }, security, context) =>
      Effect.gen(function*() {
        yield* (yield* Secrets).move(ofAccount(context), [{ id: sealed.id, slot: "held" }], context.now)
        yield* keepFacets(security, touched, context)
        return {}
      }),
    failed: ({ sealed }, { certain }, context) =>
      certain
        ? Effect.flatMap(Secrets, (secrets) => secrets.erase(ofAccount(context), [sealed.id]))
        : Effect.void,
    answer: (_, __, { account, now }) => Effect.succeed(acted("passkey_added", account, null, now))
  }
)
