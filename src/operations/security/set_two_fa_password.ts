import { Effect, type Redacted, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { PasswordInvalid, TooManyAttempts, TwoFaPasswordRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import { CurrentPassword } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { type SealedSecret, Secrets } from "../../ports/security/Secrets.ts"
import {
  keepFacets,
  leftBehind,
  looked,
  needing,
  ofAccount,
  passwordFor,
  prepare,
  type SeenSecurity,
  seeSecurity
} from "./Securing.ts"
import { sample } from "./set_two_fa_password.sample.ts"

/** The change once the messenger was read. */
interface Ready {
  readonly seen: SeenSecurity
  readonly current: Redacted.Redacted | null
  readonly next: Redacted.Redacted
  readonly sealed: SealedSecret
}

interface Plan {
  /** The password that the holder has given. */
  readonly given: Redacted.Redacted | null
  readonly ready: Ready | null
}

const touched = ["two_fa"] as const

export const setTwoFaPassword = Operation.guarded(
  "set_two_fa_password",
  {
    summary:
      "Set a strong 2FA password on the messenger that the service makes and keeps, or replace the one it keeps.",
    description:
      "An account that has a 2FA password of its holder's needs it as current_password. The new password is never answered: the owner and superadmins read it on the console's page of the account's secrets. At most five wrong passwords of a holder are tried in an hour.",
    method: "PUT",
    path: "/v1/accounts/:account_id/two-fa",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    confirm: true,
    idempotent: false,
    personal: "current_password",
    personalPage: "/console/accounts/:account_id/security",
    params: { account_id: TargetAccount },
    body: {
      current_password: Schema.optionalKey(CurrentPassword).annotateKey({
        description: "The holder's 2FA password, where the account has one that the service does not keep."
      })
    },
    success: AccountAction,
    sample,
    failures: [TwoFaPasswordRequired, PasswordInvalid, TooManyAttempts],
    journal: journalAction("two_fa.set")
  },
  {
    check: ({ current_password }) =>
      needing(Effect.succeed(Operation.planned<Plan>({ given: current_password ?? null, ready: null }))),
    look: ({ given }, { account, caller, live }) =>
      needing(Effect.gen(function*() {
        const context = { account, caller }
        const secrets = yield* Secrets
        const seen = yield* seeSecurity(live, context)
        const current = yield* passwordFor(seen, given, live, context)
        const next = yield* secrets.newPassword
        const sealed = yield* secrets.seal(ofAccount(context), { kind: "two_fa", secret: next })
        return Operation.planned<Plan>({ given, ready: { seen, current, next, sealed } })
      })),
    intent: () => ({ details: {} }),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const { sealed, seen } = yield* looked(plan.ready)
        const secrets = yield* Secrets
        yield* prepare(seen, touched, { account, caller }, now)
        yield* secrets.put(ofAccount({ account, caller }), sealed, "next", now)
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { current, next } = yield* looked(plan.ready)
        yield* live.setPassword({ current, next }).pipe(
          // The password that was right a moment ago has just been changed by another party.
          Effect.catchTag(
            "password_invalid",
            () => Effect.fail(new TwoFaPasswordRequired({ param: "current_password" }))
          )
        )
        return yield* leftBehind(live, { twoFaPasswords: [next], passkeyIds: [] })
      })),
    settle: (plan, security, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const context = { account, caller }
        const { sealed, seen } = yield* looked(plan.ready)
        const secrets = yield* Secrets
        // The messenger has required the previous password: none of the others can be the account's any more.
        yield* secrets.erase(ofAccount(context), seen.candidates.passwords.map(({ id }) => id))
        yield* secrets.move(ofAccount(context), [{ id: sealed.id, slot: "held" }], now)
        yield* keepFacets(security, touched, context)
        return {}
      })),
    failed: (plan, { certain }, { account, caller }) =>
      needing(Effect.gen(function*() {
        if (!certain) return
        const { sealed } = yield* looked(plan.ready)
        yield* (yield* Secrets).erase(ofAccount({ account, caller }), [sealed.id])
      })),
    answer: (_, __, { account, now }) => needing(Effect.succeed(acted("two_fa_set", account, null, now)))
  }
)
