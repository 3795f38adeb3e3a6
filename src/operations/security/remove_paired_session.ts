import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { slotOf } from "../../domain/accounts/Slot.ts"
import { NoPairedSession } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { ServiceSessions } from "../../ports/protection/ServiceSessions.ts"
import { ofAccount } from "./Securing.ts"
import * as samples from "./security.samples.ts"

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
    sample: samples.removePairedSession,
    failures: [NoPairedSession],
    journal: { action: "paired_session.removed", target: "account" }
  },
  {
    check: (_, context) =>
      Effect.gen(function*() {
        if (context.account.paired_state === "none") return yield* new NoPairedSession({})
        const second = yield* (yield* ServiceSessions).second(ofAccount(context))
        return Operation.planned(second.find(({ slot }) => slot === "paired")?.session_ref ?? null)
      }),
    intent: () => ({ details: {} }),
    // A session that is gone already is a success.
    act: (ref, { account }) =>
      ref === null ? Effect.void : Live.open(ref, slotOf(account.id)).pipe(
        Effect.flatMap((own) => own.logOut),
        Effect.scoped,
        Effect.catchTag("no_session", () => Effect.void)
      ),
    settle: (_, __, context) =>
      Effect.flatMap(ServiceSessions, (own) => Effect.as(own.remove(ofAccount(context), context.now), {})),
    answer: (_, __, { account, now }) => Effect.succeed(acted("paired_session_removed", account, null, now))
  }
)
