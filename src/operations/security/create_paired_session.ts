import { Effect, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive, PasswordInvalid, TooManyAttempts, TwoFaPasswordRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { guardHeld } from "../../domain/Limits.ts"
import { after } from "../../domain/Moments.ts"
import { protectors } from "../../domain/people/Access.ts"
import { CurrentPassword } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { ServiceSessions } from "../../ports/protection/ServiceSessions.ts"
import { ofAccount, passwordFor, seeSecurity } from "./Securing.ts"
import * as samples from "./security.samples.ts"

export const createPairedSession = Operation.guarded(
  "create_paired_session",
  {
    summary: "Sign a second session of the service in to the account, which goes on where the first one is lost.",
    description:
      "An account that has a 2FA password of its holder's needs it as current_password. At most five wrong ones are tried in an hour.",
    method: "PUT",
    path: "/v1/accounts/:account_id/paired-session",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    idempotent: true,
    personal: "current_password",
    personalPage: "/console/accounts/:account_id/security",
    params: { account_id: TargetAccount },
    body: {
      current_password: Schema.optionalKey(CurrentPassword).annotateKey({
        description: "The holder's 2FA password, where the account has one that the service does not keep."
      })
    },
    success: AccountAction,
    sample: samples.createPairedSession,
    failures: [NotActive, TwoFaPasswordRequired, PasswordInvalid, TooManyAttempts],
    journal: journalAction("paired_session.created")
  },
  {
    check: ({ current_password }, { account, now }) =>
      Effect.gen(function*() {
        if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
        return account.paired_state === "active"
          ? Operation.unchanged(acted("paired_session_created", account, null, now))
          : Operation.planned(current_password ?? null)
      }),
    look: (given, context) =>
      Effect.gen(function*() {
        const seen = yield* seeSecurity(context.live, context)
        const password = yield* passwordFor(seen, given, context)
        return Operation.planned({ ref: yield* (yield* ServiceSessions).newRef, password })
      }),
    intent: () => ({ details: {} }),
    prepare: ({ ref }, _, context) =>
      Effect.gen(function*() {
        const of = ofAccount(context)
        yield* (yield* ServiceSessions).begin(of, ref, context.now)
        // A crash here leaves a session that is not recorded: it is searched for before the account is polled again.
        yield* (yield* AccountTasks).add(of, "pair", after(context.now, guardHeld))
      }),
    act: ({ password, ref }, { live }) =>
      live.pair(ref, password).pipe(
        Effect.catchTag(
          "password_invalid",
          () => Effect.fail(new TwoFaPasswordRequired({ param: "current_password" }))
        )
      ),
    settle: ({ ref }, paired, context) =>
      Effect.gen(function*() {
        yield* (yield* ServiceSessions).paired(ofAccount(context), ref, paired, context.now)
        yield* (yield* AccountTasks).drop(ofAccount(context), "pair")
        return {}
      }),
    failed: ({ ref }, { certain }, context) =>
      Effect.gen(function*() {
        if (!certain) return
        yield* (yield* ServiceSessions).drop(ofAccount(context), ref)
        yield* (yield* AccountTasks).drop(ofAccount(context), "pair")
      }),
    answer: (_, __, { account, now }) => Effect.succeed(acted("paired_session_created", account, null, now))
  }
)
