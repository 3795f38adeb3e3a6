import { Effect, Schema } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerProfile } from "../../domain/accounts/MessengerProfile.ts"
import { UsernameInvalid, UsernamePurchasable, UsernameTaken } from "../../domain/Failure.ts"
import { Text } from "../../domain/JsonShapes.ts"
import { maxUsernameLength } from "../../domain/Limits.ts"
import { textOrNull } from "../../domain/messenger/Messenger.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./accounts.samples.ts"
import { keepNames, showProfile } from "./Profile.ts"

const Username = Text(maxUsernameLength).check(
  Schema.makeFilter((text: string) => !text.startsWith("@"), { expected: "a username without @" })
)

export const setMessengerUsername = Operation.guarded(
  "set_messenger_username",
  {
    summary: "Set an account's username on the messenger, without @; an empty one removes it.",
    description: "The messenger refuses a taken or malformed username, and the error says which.",
    method: "PUT",
    path: "/v1/accounts/:account_id/messenger-profile/username",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: {
      username: Username.annotateKey({
        description: "The new username without @, such as ada_lovelace; empty removes it."
      })
    },
    success: MessengerProfile,
    sample: samples.setMessengerUsername,
    failures: [UsernameTaken, UsernameInvalid, UsernamePurchasable],
    journal: { action: "profile.username_set", target: "account" }
  },
  {
    check: ({ username }) => Effect.succeed(Operation.planned(textOrNull(username))),
    look: (wanted, { account, caller, live }) =>
      Effect.gen(function*() {
        const before = yield* live.profile
        return before.username === wanted
          ? Operation.unchanged(yield* showProfile(before, live, account, caller))
          : Operation.planned(wanted)
      }),
    intent: (wanted) => ({ details: wanted === null ? {} : { username: wanted } }),
    act: (wanted, { live }) => live.setUsername(wanted),
    settle: (_, profile, { account, caller }) => keepNames(profile, account, caller),
    answer: (_, profile, { account, caller, live }) => showProfile(profile, live, account, caller)
  }
)
