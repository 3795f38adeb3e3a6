import { Effect } from "effect"
import { AdminProtected, OwnerRequired, ResourceMissing, SuperadminRequired } from "../../domain/Failure.ts"
import { cancelled } from "../../domain/logins/Login.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { RemovedAdmin, TargetAdmin } from "../../domain/people/Admin.ts"
import { lessens } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import { actingOn } from "./ActingAdmin.ts"
import * as samples from "./people.samples.ts"

export const removeAdmin = Operation.write(
  "remove_admin",
  {
    summary: "Remove an admin: their keys, connections and console sessions end, and their grants are deleted.",
    description:
      "The journal keeps their name, and the address may be invited again. Only the owner removes superadmins; the owner stays, and nobody removes themselves.",
    method: "DELETE",
    path: "/v1/admins/:admin_id",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    params: { admin_id: TargetAdmin },
    success: RemovedAdmin,
    sample: samples.removeAdmin,
    failures: [SuperadminRequired, OwnerRequired, ResourceMissing, AdminProtected],
    journal: { action: "admin.removed", target: "admin" }
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const managed = yield* ManagedAdmins
    yield* managed.lockCredentials(caller.organizationId, admin_id)
    const { acting, target } = yield* actingOn(caller, admin_id)
    const refused = lessens(acting, target)
    if (refused !== null) return yield* refused
    const { ended, logins } = yield* managed.remove(caller.organizationId, target.id, now)
    return Operation.changed(
      {
        object: "admin" as const,
        id: target.id,
        deleted: true as const,
        credentials_revoked: ended.api_keys + ended.connections
      },
      { email: target.email, role: target.role, ...ended },
      target.id,
      logins.map(cancelled)
    )
  })
)
