import { Effect, Schema } from "effect"
import { GivingPassword } from "../../domain/credentials/Credential.ts"
import { accessExceeded } from "../../domain/credentials/GrantingLimits.ts"
import {
  AccessNotApplicable,
  AdminExists,
  OwnerRequired,
  ResourceMissing,
  ScopeExceeded,
  SuperadminRequired
} from "../../domain/Failure.ts"
import { Line } from "../../domain/JsonShapes.ts"
import { maxAdminNameLength } from "../../domain/Limits.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Admin, Email, GivenRole, GrantedAccounts, GrantedDepartments } from "../../domain/people/Admin.ts"
import { canHave, givesMuch, givesRole, type WantedAccess } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import * as CurrentPassword from "../CurrentPassword.ts"
import { acting, countInvitation, requireAccess, shown } from "./ActingAdmin.ts"
import * as Mails from "./AdminMailNotices.ts"
import * as samples from "./people.samples.ts"

/** The role archive has the archive by itself. */
const without = ({ account_ids = [], department_ids = [] }: WantedAccess): WantedAccess => ({
  account_ids,
  department_ids
})

export const inviteAdmin = Operation.write(
  "invite_admin",
  {
    summary: "Invite somebody as an admin, who sets a password by a link.",
    description:
      "A mail brings the link; where no mail is sent, the admin's page of the console makes one and shows it once. It works once, for 7 days, and is never answered. Only the owner invites superadmins. A role that can access only some accounts reaches what access grants, and nothing without it. A connection that is limited to accounts or departments grants only what it reaches, and no role that can access every account.",
    method: "POST",
    path: "/v1/admins",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    idempotent: false,
    personal: "current_password",
    personalPage: "/console/people/invite",
    body: {
      email: Email.annotateKey({ description: "The address that the admin will sign in with." }),
      role: GivenRole.annotateKey({ description: "What the admin may do." }),
      access: Schema.optionalKey(Schema.Struct({
        account_ids: Schema.optionalKey(GrantedAccounts),
        department_ids: Schema.optionalKey(GrantedDepartments),
        archive: Schema.optionalKey(Schema.Boolean)
      })).annotateKey({
        description: "What the roles admin and archive can access: accounts and departments, and for admin the archive."
      }),
      name: Schema.optionalKey(Line(maxAdminNameLength)).annotateKey({ description: "The admin's name." }),
      current_password: GivingPassword
    },
    success: Admin,
    sample: samples.inviteAdmin,
    failures: [
      SuperadminRequired,
      OwnerRequired,
      ScopeExceeded,
      ResourceMissing,
      AdminExists,
      AccessNotApplicable,
      ...CurrentPassword.failures
    ],
    journal: { action: "admin.invited", target: "admin" },
    before: ({ access, current_password, role }, { caller }) =>
      CurrentPassword.check(caller, current_password, givesMuch(role, access?.archive ?? false))
  },
  Effect.fnUntraced(function*({ access, email, name = null, role }, { caller, now }) {
    const organizations = yield* Organizations
    const managed = yield* ManagedAdmins
    yield* organizations.lock(caller.organizationId)
    const { acting: own } = yield* acting(caller)
    const refused = givesRole(own, role) ?? accessExceeded(caller, { role, beyond: false })
    if (refused !== null) return yield* refused
    if (access !== undefined) {
      yield* requireAccess(caller, access)
      const unfit = canHave(role, access, { role: "role", archive: "access" })
      if (unfit !== null) return yield* unfit
    }
    const invitation = yield* managed.invite(caller, { email, name, role }, now)
    if (invitation === null) return yield* new AdminExists({ param: "email" })
    yield* countInvitation(caller, email, now)
    if (access !== undefined) {
      yield* managed.setAccess(caller, invitation.id, role === "admin" ? access : without(access))
    }
    return Operation.changed(
      yield* shown(caller, invitation.id, now),
      { email, role },
      invitation.id,
      [],
      [...(yield* Mails.invitation(caller, invitation, role)), ...Mails.superadmin(caller, email, role)]
    )
  })
)
