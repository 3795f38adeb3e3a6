import { Effect } from "effect"
import { GivingPassword } from "../../domain/credentials/Credential.ts"
import {
  AdminProtected,
  OwnerRequired,
  ResourceMissing,
  ScopeExceeded,
  SuperadminRequired
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { alertsRoleLost } from "../../domain/mail/AdminMails.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Admin, GivenRole, TargetAdmin } from "../../domain/people/Admin.ts"
import { givesMuch, givesRole, lessens, narrows, opensArchive } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Admins } from "../../ports/people/Admins.ts"
import * as CurrentPassword from "../CurrentPassword.ts"
import { actingOn, shown, withinLimit } from "./ActingAdmin.ts"
import * as Mails from "./AdminMailNotices.ts"
import * as samples from "./people.samples.ts"

export const setAdminRole = Operation.write(
  "set_admin_role",
  {
    summary: "Give an admin another role; their credentials follow it at the next request.",
    description:
      "What is granted stays, so that somebody who becomes admin or archive without grants can access nothing. Only the owner makes superadmins and acts on them. The owner's role is transferred instead, and nobody changes their own.",
    method: "PUT",
    path: "/v1/admins/:admin_id/role",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    confirm: true,
    idempotent: true,
    params: { admin_id: TargetAdmin },
    personal: "current_password",
    personalPage: "/console/people/:admin_id",
    body: {
      role: GivenRole.annotateKey({ description: "What the admin may do from now on." }),
      current_password: GivingPassword
    },
    success: Admin,
    sample: samples.setAdminRole,
    failures: [
      SuperadminRequired,
      OwnerRequired,
      ScopeExceeded,
      ResourceMissing,
      AdminProtected,
      ...CurrentPassword.failures
    ],
    journal: journalAction("admin.role_set"),
    before: ({ current_password, role }, { caller }) =>
      CurrentPassword.check(caller, current_password, givesMuch(role, false))
  },
  Effect.fnUntraced(function*({ admin_id, current_password, role }, { caller, now }) {
    const admins = yield* Admins
    const organizations = yield* Organizations
    const { acting, target } = yield* actingOn(caller, admin_id)
    const refused = lessens(acting, target) ?? givesRole(acting, role)
    if (refused !== null) return yield* refused
    if (opensArchive(target, role) && current_password === undefined) return yield* CurrentPassword.lacking()
    if (!narrows(target.role, role)) yield* withinLimit(caller, target.id, role)
    if (role === target.role) return Operation.unchanged(yield* shown(caller, target.id, now))
    yield* admins.update(caller.organizationId, target.id, { role })
    const { notification_recipients } = yield* organizations.facts(caller)
    const heard = target.role === "superadmin" && notification_recipients === "owner_superadmins" &&
      ((yield* admins.mailPreferences(caller.organizationId, target.id, false))?.choices.security ?? false)
    return Operation.changed(
      yield* shown(caller, target.id, now),
      { email: target.email, role, from: target.role },
      target.id,
      [],
      [...Mails.superadmin(caller, target.email, role), ...(heard ? [alertsRoleLost({ adminId: target.id })] : [])]
    )
  })
)
