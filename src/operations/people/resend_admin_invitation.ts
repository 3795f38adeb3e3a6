import { Effect } from "effect"
import {
  NotInvited,
  OwnerRequired,
  ResourceMissing,
  ScopeExceeded,
  SuperadminRequired,
  TooManyAttempts
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Admin, TargetAdmin } from "../../domain/people/Admin.ts"
import { reinvites } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import { actingOn, countInvitation, shown, withinLimit } from "./ActingAdmin.ts"
import * as Mails from "./AdminMailNotices.ts"
import * as samples from "./people.samples.ts"

export const resendAdminInvitation = Operation.write(
  "resend_admin_invitation",
  {
    summary: "Make a new link for an invited admin, good for 7 days; the one before stops.",
    description:
      "A mail brings the link; where no mail is sent, the admin's page of the console makes one and shows it once.",
    method: "POST",
    path: "/v1/admins/:admin_id/resend-invitation",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    idempotent: false,
    params: { admin_id: TargetAdmin },
    success: Admin,
    sample: samples.resendAdminInvitation,
    failures: [SuperadminRequired, OwnerRequired, ScopeExceeded, ResourceMissing, NotInvited, TooManyAttempts],
    journal: journalAction("admin.invitation_resent")
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const organizations = yield* Organizations
    const managed = yield* ManagedAdmins
    yield* organizations.lock(caller.organizationId)
    const { acting, target } = yield* actingOn(caller, admin_id)
    yield* withinLimit(caller, target.id, target.role)
    const refused = reinvites(acting, target)
    if (refused !== null) return yield* refused
    yield* countInvitation(caller, target.email, now)
    const invitation = yield* managed.reinvite(caller.organizationId, target.id, now)
    return Operation.changed(
      yield* shown(caller, target.id, now),
      { email: target.email },
      target.id,
      [],
      yield* Mails.invitation(caller, invitation, target.role)
    )
  })
)
