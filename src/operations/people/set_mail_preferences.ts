import { Effect } from "effect"
import { MailPreferencesUnavailable } from "../../domain/Failure.ts"
import { alertsTurnedOff } from "../../domain/mail/index.ts"
import { everyone } from "../../domain/people/Access.ts"
import { hearsOfTakeovers, mailChoices, MailPreferences, sameChoices } from "../../domain/people/MailPreferences.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Admins } from "../../ports/people/Admins.ts"
import * as samples from "./people.samples.ts"

export const setMailPreferences = Operation.write(
  "set_mail_preferences",
  {
    summary: "Set which emails the credential's own admin gets.",
    method: "PUT",
    path: "/v1/me/mail-preferences",
    toolset: "console",
    scope: "accounts:write",
    roles: everyone,
    idempotent: true,
    body: mailChoices,
    success: MailPreferences,
    sample: samples.setMailPreferences,
    failures: [MailPreferencesUnavailable],
    journal: { action: "mail_preferences.set", target: "admin" }
  },
  Effect.fnUntraced(function*({ news, offers, security, storage }, { caller }) {
    const admins = yield* Admins
    const organizations = yield* Organizations
    const choices = { security, storage, news, offers }
    const before = yield* admins.mailPreferences(caller.organizationId, caller.adminId, true)
    if (before === null) return yield* new MailPreferencesUnavailable({})
    const answer = { object: "mail_preferences" as const, email: before.email, choices }
    if (sameChoices(before.choices, choices)) return Operation.unchanged(answer)
    yield* admins.setMailChoices(caller.organizationId, caller.adminId, choices)
    const { notification_recipients: recipients } = yield* organizations.facts(caller)
    const silenced = before.choices.security && !security && hearsOfTakeovers(caller.role, recipients)
    const mails = silenced ? [alertsTurnedOff({ adminId: caller.adminId })] : []
    return Operation.changed(answer, choices, undefined, [], mails)
  })
)
