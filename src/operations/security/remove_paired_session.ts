import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { NoPairedSession } from "../../domain/Failure.ts"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { OwnSessions } from "../../ports/protection/ServiceSessions.ts"
import { sample } from "./remove_paired_session.sample.ts"
import { needing, ofAccount } from "./Securing.ts"

export const removePairedSession = Operation.guarded(
  "remove_paired_session",
  {
    summary: "Sign the service's second session of the account out.",
    description: "Also for one that was lost. It signs itself out, whatever its age.",
    method: "DELETE",
    path: "/v1/accounts/:account_id/paired-session",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample,
    failures: [NoPairedSession],
    journal: { action: "paired_session.removed", target: "account" }
  },
  {
    check: (_, { account, caller }) =>
      needing(Effect.gen(function*() {
        if (account.paired_state === "none") return yield* new NoPairedSession({})
        const second = yield* (yield* OwnSessions).second(ofAccount({ account, caller }))
        const paired = second.find(({ slot }) => slot === "paired")
        return Operation.planned<SessionRef | null>(paired?.session_ref ?? null)
      })),
    intent: () => ({ details: {} }),
    // A session that is gone already is a success.
    act: (ref) =>
      needing(
        ref === null ? Effect.void : Live.open(ref).pipe(
          Effect.flatMap((own) => own.logOut),
          Effect.scoped,
          Effect.catchTag("no_session", () => Effect.void)
        )
      ),
    settle: (_, __, { account, caller, now }) =>
      needing(Effect.gen(function*() {
        yield* (yield* OwnSessions).remove(ofAccount({ account, caller }), now)
        return {}
      })),
    answer: (_, __, { account, now }) => needing(Effect.succeed(acted("paired_session_removed", account, null, now)))
  }
)
