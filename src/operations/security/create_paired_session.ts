import { Effect, type Redacted, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive, PasswordInvalid, TooManyAttempts, TwoFaPasswordRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { guardHeld } from "../../domain/Limits.ts"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import { protectors } from "../../domain/people/Access.ts"
import { plus } from "../../domain/protection/Deadline.ts"
import { CurrentPassword } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { OwnSessions } from "../../ports/protection/ServiceSessions.ts"
import { sample } from "./create_paired_session.sample.ts"
import { looked, needing, ofAccount, passwordFor, seeSecurity } from "./Securing.ts"

interface Ready {
  readonly ref: SessionRef
  readonly password: Redacted.Redacted | null
}

interface Plan {
  /** The password that the holder has given. */
  readonly given: Redacted.Redacted | null
  readonly ready: Ready | null
}

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
    sample,
    failures: [NotActive, TwoFaPasswordRequired, PasswordInvalid, TooManyAttempts],
    journal: journalAction("paired_session.created")
  },
  {
    check: ({ current_password }, { account, now }) =>
      needing(Effect.gen(function*() {
        if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
        return account.paired_state === "active"
          ? Operation.unchanged(acted("paired_session_created", account, null, now))
          : Operation.planned<Plan>({ given: current_password ?? null, ready: null })
      })),
    look: ({ given }, { account, caller, live }) =>
      needing(Effect.gen(function*() {
        const seen = yield* seeSecurity(live, { account, caller })
        const password = yield* passwordFor(seen, given, live, { account, caller })
        const ref = yield* (yield* OwnSessions).newRef
        return Operation.planned<Plan>({ given, ready: { ref, password } })
      })),
    intent: () => ({ details: {} }),
    prepare: (plan, _, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const of = ofAccount({ account, caller })
        yield* (yield* OwnSessions).begin(of, (yield* looked(plan.ready)).ref, now)
        // A crash here leaves a session that is not recorded: it is searched for before the account is polled again.
        yield* (yield* AccountTasks).add(of, "pair", plus(now, guardHeld))
      })),
    act: (plan, { live }) =>
      needing(Effect.gen(function*() {
        const { password, ref } = yield* looked(plan.ready)
        return yield* live.pair(ref, password).pipe(
          Effect.catchTag(
            "password_invalid",
            () => Effect.fail(new TwoFaPasswordRequired({ param: "current_password" }))
          )
        )
      })),
    settle: (plan, paired, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const { ref } = yield* looked(plan.ready)
        yield* (yield* OwnSessions).paired(ofAccount({ account, caller }), ref, paired, now)
        yield* (yield* AccountTasks).drop(ofAccount({ account, caller }), "pair")
        return {}
      })),
    failed: (plan, { certain }, { account, caller }) =>
      needing(Effect.gen(function*() {
        if (!certain) return
        yield* (yield* OwnSessions).drop(ofAccount({ account, caller }), (yield* looked(plan.ready)).ref)
        yield* (yield* AccountTasks).drop(ofAccount({ account, caller }), "pair")
      })),
    answer: (_, __, { account, now }) => needing(Effect.succeed(acted("paired_session_created", account, null, now)))
  }
)
