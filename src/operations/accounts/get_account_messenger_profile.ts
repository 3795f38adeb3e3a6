import { Effect } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerProfile } from "../../domain/accounts/MessengerProfile.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./accounts.samples.ts"
import { showProfile } from "./Profile.ts"

export const getAccountMessengerProfile = Operation.live(
  "get_account_messenger_profile",
  {
    summary: "Read an account's profile live from the messenger.",
    method: "GET",
    path: "/v1/accounts/:account_id/messenger-profile",
    toolset: "accounts",
    scope: "org:read",
    roles: protectors,
    params: { account_id: TargetAccount },
    success: MessengerProfile,
    sample: samples.getAccountMessengerProfile
  },
  (_, { account, caller, live }) =>
    Effect.gen(function*() {
      return yield* showProfile(yield* live.profile, live, account, caller)
    })
)
