import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { AlreadyOffboarded } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as Leaving from "./Leaving.ts"
import * as Releasing from "./Releasing.ts"
import * as samples from "./security.samples.ts"

export const offboardAccount = Operation.guarded(
  "offboard_account",
  {
    summary: "End the protection of an account: the service logs out, and its seat is free.",
    description:
      "First the 2FA password and the passkey that the service keeps are removed, so that the holder is not locked out. Where the messenger cannot be reached, protection ends all the same: `offboarded_two_fa_held` says that the service's 2FA password is still set; the owner and superadmins can look it up in the console for 90 days. The archive stays, and the account can be connected again.",
    method: "POST",
    path: "/v1/accounts/:account_id/offboard",
    toolset: "security",
    scope: "security:write",
    roles: protectors,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.offboardAccount,
    failures: [AlreadyOffboarded],
    journal: { action: "account.offboarded", target: "account" }
  },
  {
    unreached: true,
    // Seats are counted on the organization's row.
    lock: ({ caller }) => Effect.flatMap(Organizations, (organizations) => organizations.lock(caller.organizationId)),
    check: (_, { account, now }) =>
      account.offboarded_at === null
        ? Effect.succeed(Operation.planned(now))
        : Effect.fail(new AlreadyOffboarded({})),
    look: (since, context) =>
      Effect.map(Releasing.find(context.live, context, since), (found) => Operation.planned({ since, found })),
    intent: () => ({ details: {} }),
    prepare: ({ found }, _, context) => Releasing.begin(found, context),
    act: ({ found, since }, { live }) => Releasing.release(live, found, since),
    settle: ({ found }, released, context) =>
      Effect.gen(function*() {
        yield* Releasing.released(released, found, context, context.now)
        const more = yield* Leaving.leave(context, context.now)
        return { details: { two_fa: released.twoFa, passkey: released.passkey }, more }
      }),
    // The sessions are logged out once nothing depends on them any more: what fails here is done later.
    answer: ({ found, since }, released, context) =>
      Effect.gen(function*() {
        const { account, now } = context
        const isAway = found.seen === null && found.isAway
        if (!isAway) yield* Leaving.logOut(context, since)
        const action = released.twoFa === "held" ? "offboarded_two_fa_held" : "offboarded"
        return acted(action, account, { ...account, offboarded_at: now }, now)
      })
  }
)
