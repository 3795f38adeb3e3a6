import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { MessengerUnavailable, NotActive, ResourceMissing, ServiceSession } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { protectors } from "../../domain/people/Access.ts"
import { canSignOut } from "../../domain/protection/Deadline.ts"
import {
  acted,
  isServiceSession,
  rejectedSince,
  type StoredSession,
  TargetSession
} from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Sessions } from "../../ports/sessions/Sessions.ts"
import { sample } from "./sign_out_session.sample.ts"
import { answer, needing, settle, signOut, whoseOf } from "./SigningOut.ts"

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
    sample,
    failures: [NotActive, ServiceSession, ResourceMissing],
    journal: journalAction("session.signed_out"),
    furtherActions: [queued]
  },
  {
    check: ({ session_id }, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        const sessions = yield* Sessions
        const whose = whoseOf({ account, caller })
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
          write: sessions.reject(whose, { sessions: [session_id], by: caller.adminId, intent: null }, now)
        })
      })),
    intent: ({ id }) => ({ details, targetId: id }),
    prepare: ({ id }, intent, { account, caller, now }) =>
      Effect.flatMap(
        Sessions,
        (sessions) => sessions.reject(whoseOf({ account, caller }), { sessions: [id], by: caller.adminId, intent }, now)
      ),
    act: (session: StoredSession, { account, caller, live }) => signOut([session], live, { account, caller }),
    settle: ({ id }, came, { account, caller }) =>
      Effect.map(settle(came, { account, caller }), ({ left, more }) =>
        came.ended.length > 0 ? { more } : {
          outcome: "failed" as const,
          details: { because: left > 0 ? "locked" : came.gone.length > 0 ? "unknown_authorization" : "skipped" },
          more: left > 0 ? [{ journal: queued, targetId: id, accountId: account.id, details }] : []
        }),
    answer: Effect.fnUntraced(function*(_, { ended, gone, waiting }, { account, caller }) {
      if (gone.length > 0) return yield* new ResourceMissing({ param: "session_id" })
      if (waiting.length > 0) return yield* answer("session_sign_out_queued", { account, caller })
      if (ended.length > 0) return yield* answer("session_signed_out", { account, caller })
      return yield* new MessengerUnavailable({ retry_after: 1 })
    })
  }
)
