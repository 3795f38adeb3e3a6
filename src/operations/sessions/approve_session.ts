import { Effect } from "effect"
import { AccountAction, accountName, TargetAccount } from "../../domain/accounts/Account.ts"
import { deriveStatus, isActive } from "../../domain/accounts/ProtectionStatus.ts"
import { NotActive, ResourceMissing, ServiceSession } from "../../domain/Failure.ts"
import { reviewEnded } from "../../domain/mail/index.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted, awaitsReview, isServiceSession, TargetSession } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Sessions } from "../../ports/sessions/Sessions.ts"
import * as samples from "./sessions.samples.ts"

export const approveSession = Operation.write(
  "approve_session",
  {
    summary: "Approve a session as the holder's: it stays signed in, and whatever was to be done to it is taken back.",
    description:
      "Ask the account's holder first. For sessions that wait for their review, and for those that were there before the service. A sign-out that is queued or not yet sent is taken back too, also one of a takeover.",
    method: "POST",
    path: "/v1/accounts/:account_id/sessions/:session_id/approve",
    toolset: "security",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount, session_id: TargetSession },
    success: AccountAction,
    sample: samples.approveSession,
    failures: [NotActive, ServiceSession, ResourceMissing],
    journal: { action: "session.approved", target: "session" }
  },
  Effect.fnUntraced(function*({ session_id }, { account, caller, now }) {
    const accounts = yield* Accounts
    const sessions = yield* Sessions
    const whose = { organizationId: caller.organizationId, accountId: account.id }
    if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})
    const session = yield* sessions.find(whose, session_id)
    if (session === null) return yield* new ResourceMissing({ param: "session_id" })
    if (isServiceSession(session)) return yield* new ServiceSession({ param: "session_id" })
    const waited = awaitsReview(session)
    if (session.approved_at !== null && !waited && !session.ending) {
      return Operation.unchanged(acted("session_approved", account, null, now))
    }
    yield* sessions.approve(whose, session_id, caller.adminId, now)
    const after = yield* accounts.find(caller, account.id, false)
    const facts = {
      account: { id: account.id, name: accountName(account) },
      by: caller.adminName ?? caller.adminId,
      did: "approved" as const,
      sessions: 1
    }
    return Operation.changed(
      acted("session_approved", account, after, now),
      {},
      session_id,
      [],
      waited ? [reviewEnded(facts)] : []
    )
  })
)
