import { Effect } from "effect"
import { NotificationSettings } from "../../domain/organization/Organization.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./organization.samples.ts"

export const getNotificationRecipients = Operation.read(
  "get_notification_recipients",
  {
    summary: "Read who gets the organization's notifications.",
    method: "GET",
    path: "/v1/settings/notifications",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    success: NotificationSettings,
    sample: samples.getNotificationRecipients
  },
  Effect.fnUntraced(function*(_, { caller }) {
    const organizations = yield* Organizations
    const facts = yield* organizations.facts(caller)
    return { object: "notification_settings" as const, recipients: facts.notification_recipients }
  })
)
