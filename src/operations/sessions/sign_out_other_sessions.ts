import { Effect, Schema } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { canSignOut } from "../../domain/protection/Deadline.ts"
import { acted, isKept, KeptSessions, type StoredSession } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Sessions } from "../../ports/sessions/Sessions.ts"
import * as samples from "./sessions.samples.ts"
import { answer, reject, settle, signOut, whoseOf } from "./SigningOut.ts"

const queued = { action: "sessions.sign_out_queued", target: "account" } as const

const idsOf = (targets: ReadonlyArray<StoredSession>) => targets.map(({ id }) => id)

export const signOutOtherSessions = Operation.guarded(
  "sign_out_other_sessions",
  {
    summary: "Sign an account's sessions out, all but the service's own and those that are kept.",
    description:
      "By default what is approved and what was there before the service is kept; the latter is usually the holder's own phone. Within 24 hours of connecting the sign-outs are queued, and so is what the messenger does not take at once.",
    method: "POST",
    path: "/v1/accounts/:account_id/sessions/sign-out-others",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: {
      keep: Schema.optionalKey(KeptSessions).annotateKey({
        description:
          "Which sessions stay: `approved_and_baseline` (the default), only the `approved` ones, or `none` but the service's own."
      })
    },
    success: AccountAction,
    sample: samples.signOutOtherSessions,
    failures: [NotActive],
    journal: { action: "sessions.signed_out", target: "account" },
    furtherActions: [queued]
  },
  {
    check: ({ keep = "approved_and_baseline" }, context) =>
      Effect.gen(function*() {
        const { account, now } = context
        const sessions = yield* Sessions
        if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
        const targets = (yield* sessions.others(whoseOf(context))).filter((session) => !isKept(session, keep))
        if (targets.length === 0) return Operation.unchanged(acted("sessions_signed_out", account, null, now))
        if (canSignOut(account.enforcement_active_at, now)) return Operation.planned({ keep, targets })
        const later = acted("session_sign_out_queued", account, null, now)
        const fresh = idsOf(targets.filter(({ ending }) => !ending))
        if (fresh.length === 0) return Operation.unchanged(later)
        return Operation.stored({
          answer: later,
          journal: queued,
          details: { keep, sessions: fresh.length },
          write: reject(fresh, null, context)
        })
      }),
    intent: ({ keep, targets }) => ({ details: { keep, sessions: targets.length } }),
    prepare: ({ targets }, intent, context) => reject(idsOf(targets), intent, context),
    act: ({ targets }, context) => signOut(targets, context),
    settle: ({ keep }, came, context) =>
      Effect.map(settle(came, context), ({ left, more }) => ({
        outcome: came.ended.length + came.gone.length > 0 ? "done" as const : "failed" as const,
        details: { signed_out: came.ended.length, gone: came.gone.length, queued: left, spared: came.spared.length },
        more: left > 0
          ? [...more, {
            journal: queued,
            targetId: context.account.id,
            accountId: context.account.id,
            details: { keep, sessions: left }
          }]
          : more
      })),
    answer: (_, { unsure, waiting }, context) =>
      answer(waiting.length + unsure.length > 0 ? "session_sign_out_queued" : "sessions_signed_out", context)
  }
)
