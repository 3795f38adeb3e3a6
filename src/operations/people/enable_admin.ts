import { Effect } from "effect"
import { NotDisabled, OwnerRequired, ResourceMissing, ScopeExceeded, SuperadminRequired } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Admin, TargetAdmin } from "../../domain/people/Admin.ts"
import { enables } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Admins } from "../../ports/people/Admins.ts"
import { actingOn, shown, withinLimit } from "./ActingAdmin.ts"
import * as samples from "./people.samples.ts"

export const enableAdmin = Operation.write(
  "enable_admin",
  {
    summary: "Enable an admin who was disabled.",
    description:
      "Their keys and connections work again, as far as they have not ended meanwhile. Only the owner enables superadmins.",
    method: "POST",
    path: "/v1/admins/:admin_id/enable",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    idempotent: true,
    params: { admin_id: TargetAdmin },
    success: Admin,
    sample: samples.enableAdmin,
    failures: [SuperadminRequired, OwnerRequired, ScopeExceeded, ResourceMissing, NotDisabled],
    journal: journalAction("admin.enabled")
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const admins = yield* Admins
    const { acting, target } = yield* actingOn(caller, admin_id)
    yield* withinLimit(caller, target.id, target.role)
    const refused = enables(acting, target)
    if (refused !== null) return yield* refused
    yield* admins.enable(caller.organizationId, target.id)
    return Operation.changed(yield* shown(caller, target.id, now), { email: target.email }, target.id)
  })
)
