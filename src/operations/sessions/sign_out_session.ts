import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { MessengerUnavailable, NotActive, ResourceMissing, ServiceSession } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import { canSignOut } from "../../domain/protection/Deadline.ts"
import { acted, isServiceSession, rejectedSince, TargetSession } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Sessions } from "../../ports/sessions/Sessions.ts"
import * as samples from "./sessions.samples.ts"
import { answer, reject, settle, signOut, whoseOf } from "./SigningOut.ts"

const queued = { action: "session.sign_out_queued", target: "session" } as const
const details = { reason: "rejected" } as const

export const signOutSession = Operation.guarded(
  "sign_out_session",
  {
    summary: "Sign a session out of the messenger, now or as soon as the messenger lets the service.",
    description:
      "Within 24 hours of connecting the messenger lets the service sign nobody out: the sign-out is queued then, which needs no live session. One that fails stays queued too, and is tried again. The service's own sessions cannot be signed out.",
    method: "POST",
    path: "/v1/accounts/:account_id/sessions/:session_id/sign-out",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount, session_id: TargetSession },
    success: AccountAction,
    sample: samples.signOutSession,
    failures: [NotActive, ServiceSession, ResourceMissing],
    journal: journalAction("session.signed_out"),
    furtherActions: [queued]
  },
  {
    check: ({ session_id }, context) =>
      Effect.gen(function*() {
        const { account, now } = context
        const sessions = yield* Sessions
        const whose = whoseOf(context)
        if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
        const session = yield* sessions.find(whose, session_id)
        if (session === null) {
          if (yield* sessions.wasRejected(whose, session_id, rejectedSince(now))) {
            return Operation.unchanged(acted("session_signed_out", account, null, now))
          }
          return yield* new ResourceMissing({ param: "session_id" })
        }
        if (isServiceSession(session)) return yield* new ServiceSession({ param: "session_id" })
        if (canSignOut(account.enforcement_active_at, now)) return Operation.planned(session)
        const later = acted("session_sign_out_queued", account, null, now)
        if (session.ending) return Operation.unchanged(later)
        return Operation.stored({
          answer: later,
          journal: queued,
          details,
          targetId: session_id,
          write: reject([session_id], null, context)
        })
      }),
    intent: ({ id }) => ({ details, targetId: id }),
    prepare: ({ id }, intent, context) => reject([id], intent, context),
    act: (session, context) => signOut([session], context),
    settle: ({ id }, came, context) =>
      Effect.map(settle(came, context), ({ left, more }) =>
        came.ended.length > 0 ? { more } : {
          outcome: "failed" as const,
          details: { because: left > 0 ? "locked" : came.gone.length > 0 ? "unknown_authorization" : "skipped" },
          more: left > 0 ? [{ journal: queued, targetId: id, accountId: context.account.id, details }] : []
        }),
    answer: Effect.fnUntraced(function*(_, { ended, gone, waiting }, context) {
      if (gone.length > 0) return yield* new ResourceMissing({ param: "session_id" })
      if (waiting.length > 0) return yield* answer("session_sign_out_queued", context)
      if (ended.length > 0) return yield* answer("session_signed_out", context)
      return yield* new MessengerUnavailable({ retry_after: 1 })
    })
  }
)
