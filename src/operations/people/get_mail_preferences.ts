import { Effect } from "effect"
import { MailPreferencesUnavailable } from "../../domain/Failure.ts"
import { everyone } from "../../domain/people/Access.ts"
import { MailPreferences } from "../../domain/people/MailPreferences.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Admins } from "../../ports/people/Admins.ts"
import * as samples from "./people.samples.ts"

export const getMailPreferences = Operation.read(
  "get_mail_preferences",
  {
    summary: "Read which emails the credential's own admin gets, and where.",
    method: "GET",
    path: "/v1/me/mail-preferences",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    success: MailPreferences,
    sample: samples.getMailPreferences,
    failures: [MailPreferencesUnavailable]
  },
  Effect.fnUntraced(function*(_, { caller }) {
    const admins = yield* Admins
    const preferences = yield* admins.mailPreferences(caller.organizationId, caller.adminId, false)
    if (preferences === null) return yield* new MailPreferencesUnavailable({})
    return { object: "mail_preferences" as const, ...preferences }
  })
)
