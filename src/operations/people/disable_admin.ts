import { Effect } from "effect"
import { AdminProtected, NotEnabled, OwnerRequired, ResourceMissing, SuperadminRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Admin, TargetAdmin } from "../../domain/people/Admin.ts"
import { disables } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Admins } from "../../ports/people/Admins.ts"
import { actingOn, shown } from "./ActingAdmin.ts"
import * as samples from "./people.samples.ts"

export const disableAdmin = Operation.write(
  "disable_admin",
  {
    summary: "Disable an admin: nothing works in their name until they are enabled again.",
    description:
      "Their keys and connections answer 401 from the next request on; their console sessions end for good. Only the owner disables superadmins; the owner stays, and nobody disables themselves.",
    method: "POST",
    path: "/v1/admins/:admin_id/disable",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    confirm: true,
    idempotent: true,
    params: { admin_id: TargetAdmin },
    success: Admin,
    sample: samples.disableAdmin,
    failures: [SuperadminRequired, OwnerRequired, ResourceMissing, AdminProtected, NotEnabled],
    journal: journalAction("admin.disabled")
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const admins = yield* Admins
    const { acting, target } = yield* actingOn(caller, admin_id)
    const refused = disables(acting, target)
    if (refused !== null) return yield* refused
    const sessions = yield* admins.disable(caller.organizationId, target.id, now)
    return Operation.changed(yield* shown(caller, target.id, now), { email: target.email, sessions }, target.id)
  })
)
