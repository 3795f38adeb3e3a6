import { Effect, Schema } from "effect"
import { GivingPassword } from "../../domain/credentials/Credential.ts"
import {
  AccessNotApplicable,
  OwnerRequired,
  ResourceMissing,
  ScopeExceeded,
  SuperadminRequired
} from "../../domain/Failure.ts"
import { readsArchive, superadmins } from "../../domain/people/Access.ts"
import { Admin, GrantedAccounts, GrantedDepartments, TargetAdmin } from "../../domain/people/Admin.ts"
import { actsOn, canHave } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import * as CurrentPassword from "../CurrentPassword.ts"
import { actingOn, requireAccess, shown, withinLimit } from "./ActingAdmin.ts"
import * as samples from "./people.samples.ts"

export const setAdminAccess = Operation.write(
  "set_admin_access",
  {
    summary:
      "Set which accounts and departments an admin of the role admin or archive can access, instead of those before.",
    description:
      "A connection that is limited to accounts or departments sets what lies within its limit, and leaves the rest as it is. The archive is granted to the role admin; the role archive always reads it.",
    method: "PUT",
    path: "/v1/admins/:admin_id/access",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    confirm: true,
    idempotent: true,
    personal: "current_password",
    personalPage: "/console/people/:admin_id",
    params: { admin_id: TargetAdmin },
    body: {
      account_ids: GrantedAccounts.annotateKey({ description: "The accounts granted one by one: UUIDs." }),
      department_ids: GrantedDepartments.annotateKey({ description: "The departments granted: UUIDs." }),
      archive: Schema.optionalKey(Schema.Boolean).annotateKey({
        description: "Whether an admin reads the archive of these accounts; left out, it stays as it is."
      }),
      current_password: GivingPassword
    },
    success: Admin,
    sample: samples.setAdminAccess,
    failures: [
      SuperadminRequired,
      OwnerRequired,
      ScopeExceeded,
      ResourceMissing,
      AccessNotApplicable,
      ...CurrentPassword.failures
    ],
    journal: { action: "admin.access_set", target: "admin" },
    before: ({ archive = false, current_password }, { caller }) =>
      CurrentPassword.check(caller, current_password, archive)
  },
  Effect.fnUntraced(function*({ account_ids, admin_id, archive, current_password, department_ids }, { caller, now }) {
    const managed = yield* ManagedAdmins
    const wanted = { account_ids, department_ids }
    const { acting, target } = yield* actingOn(caller, admin_id)
    const refused = actsOn(acting, target)
    if (refused !== null) return yield* refused
    yield* requireAccess(caller, wanted)
    const unfit = canHave(target.role, archive === undefined ? wanted : { ...wanted, archive }, {
      archive: "archive"
    })
    if (unfit !== null) return yield* unfit
    const opens = target.role === "admin" && archive !== undefined && archive !== target.archive_access
    if (opens && archive === true) yield* withinLimit(caller, target.id, target.role)
    const { added, taken } = yield* managed.setAccess(caller, target.id, opens ? { ...wanted, archive } : wanted)
    // The grant to an admin who reads the archive is the archive of more accounts.
    if (added > 0 && current_password === undefined && readsArchive(target.role, archive ?? target.archive_access)) {
      return yield* CurrentPassword.lacking()
    }
    const answer = yield* shown(caller, target.id, now)
    if (!opens && added + taken === 0) return Operation.unchanged(answer)
    return Operation.changed(answer, { added, taken, ...(opens ? { archive } : {}) }, target.id)
  })
)
