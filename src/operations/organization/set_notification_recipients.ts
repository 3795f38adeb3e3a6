import { Effect } from "effect"
import { recipientsNarrowed } from "../../domain/mail/index.ts"
import { NotificationSettings, Recipients } from "../../domain/organization/Organization.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./organization.samples.ts"

export const setNotificationRecipients = Operation.write(
  "set_notification_recipients",
  {
    summary: "Set who gets the organization's notifications: the owner alone, or the owner and every superadmin.",
    method: "PUT",
    path: "/v1/settings/notifications",
    toolset: "console",
    scope: "accounts:write",
    roles: superadmins,
    idempotent: true,
    body: {
      recipients: Recipients.annotateKey({
        description: "Who gets the notifications."
      })
    },
    success: NotificationSettings,
    sample: samples.setNotificationRecipients,
    journal: { action: "notification_recipients.set", target: "organization" }
  },
  Effect.fnUntraced(function*({ recipients }, { caller }) {
    const organizations = yield* Organizations
    const answer = { object: "notification_settings" as const, recipients }
    if (recipients === (yield* organizations.lockRecipients(caller.organizationId))) {
      return Operation.unchanged(answer)
    }
    yield* organizations.setRecipients(caller.organizationId, recipients)
    const mails = recipients === "owner" ? [recipientsNarrowed({ by: caller.adminName ?? caller.adminId })] : []
    return Operation.changed(answer, { recipients }, undefined, [], mails)
  })
)
