import { Effect, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { PasswordInvalid, TooManyAttempts, TwoFaPasswordRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import { CurrentPassword } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { keepFacets, leftBehind, ofAccount, passwordFor, prepare, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

/** The change once the messenger was read. */
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
    sample: samples.setTwoFaPassword,
    failures: [TwoFaPasswordRequired, PasswordInvalid, TooManyAttempts],
    journal: journalAction("two_fa.set")
  },
  {
    check: ({ current_password }) => Effect.succeed(Operation.planned(current_password ?? null)),
    look: (given, context) =>
      Effect.gen(function*() {
        const secrets = yield* Secrets
        const seen = yield* seeSecurity(context.live, context)
        const current = yield* passwordFor(seen, given, context)
        const next = yield* secrets.newPassword
        const sealed = yield* secrets.seal(ofAccount(context), { kind: "two_fa", secret: next })
        return Operation.planned({ seen, current, next, sealed })
      }),
    intent: () => ({ details: {} }),
    prepare: ({ sealed, seen }, _, context) =>
      Effect.gen(function*() {
        const secrets = yield* Secrets
        yield* prepare(seen, touched, context)
        yield* secrets.put(ofAccount(context), sealed, "next", context.now)
      }),
    act: ({ current, next }, { live }) =>
      live.setPassword({ current, next }).pipe(
        // The password that was right a moment ago has just been changed by another party.
        Effect.catchTag(
          "password_invalid",
          () => Effect.fail(new TwoFaPasswordRequired({ param: "current_password" }))
        ),
        Effect.andThen(leftBehind(live, { twoFaPasswords: [next], passkeyIds: [] }))
      ),
    settle: ({ sealed, seen }, security, context) =>
      Effect.gen(function*() {
        const secrets = yield* Secrets
        // The messenger has required the previous password: none of the others can be the account's any more.
        yield* secrets.erase(ofAccount(context), seen.candidates.passwords.map(({ id }) => id))
        yield* secrets.move(ofAccount(context), [{ id: sealed.id, slot: "held" }], context.now)
        yield* keepFacets(security, touched, context)
        return {}
      }),
    failed: ({ sealed }, { certain }, context) =>
      certain
        ? Effect.flatMap(Secrets, (secrets) => secrets.erase(ofAccount(context), [sealed.id]))
        : Effect.void,
    answer: (_, __, { account, now }) => Effect.succeed(acted("two_fa_set", account, null, now))
  }
)
