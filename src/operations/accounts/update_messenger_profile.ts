import { Effect, Schema } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { MessengerProfile } from "../../domain/accounts/MessengerProfile.ts"
import { BioTooLong } from "../../domain/Failure.ts"
import { Text } from "../../domain/JsonShapes.ts"
import { maxAboutLength, maxNameLength } from "../../domain/Limits.ts"
import { changedFields, type ProfilePatch } from "../../domain/messenger/Messenger.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./accounts.samples.ts"
import { keepNames, showProfile } from "./Profile.ts"

export const updateMessengerProfile = Operation.guarded(
  "update_messenger_profile",
  {
    summary: "Change the name or bio of an account on the messenger; a field left out stays as it is.",
    description: "The change is made on the real account; its own bio_limit applies.",
    method: "PATCH",
    path: "/v1/accounts/:account_id/messenger-profile",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: {
      first_name: Schema.optionalKey(Text(maxNameLength)).annotateKey({
        description: "The new first name, such as Ada."
      }),
      last_name: Schema.optionalKey(Text(maxNameLength)).annotateKey({
        description: "The new last name, such as Lovelace; empty removes it."
      }),
      about: Schema.optionalKey(Text(maxAboutLength)).annotateKey({
        description: "The new bio; empty removes it. The account's bio_limit (70 or 140 characters) applies."
      })
    },
    success: MessengerProfile,
    sample: samples.updateMessengerProfile,
    failures: [BioTooLong],
    journal: { action: "profile.updated", target: "account" }
  },
  {
    check: ({ account_id: _, ...wanted }) => Effect.succeed(Operation.planned<ProfilePatch>(wanted)),
    look: (wanted, { account, caller, live }) =>
      Effect.gen(function*() {
        const before = yield* live.profile
        const patch = changedFields(before, wanted)
        return Object.keys(patch).length === 0
          ? Operation.unchanged(yield* showProfile(before, live, account, caller))
          : Operation.planned(patch)
      }),
    intent: (patch) => ({ details: { fields: Object.keys(patch).join(", ") } }),
    act: (patch, { live }) => live.updateProfile(patch),
    settle: (_, profile, { account, caller }) => keepNames(profile, account, caller),
    answer: (_, profile, { account, caller, live }) => showProfile(profile, live, account, caller)
  }
)
