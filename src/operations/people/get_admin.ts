import { Effect } from "effect"
import { ResourceMissing } from "../../domain/Failure.ts"
import { everyone } from "../../domain/people/Access.ts"
import { Admin, admin, TargetAdmin } from "../../domain/people/Admin.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import * as samples from "./people.samples.ts"

export const getAdmin = Operation.read(
  "get_admin",
  {
    summary: "Read one admin: role, state, and which accounts and departments are granted.",
    description: "Owner and superadmins read all of them, any other role itself alone.",
    method: "GET",
    path: "/v1/admins/:admin_id",
    toolset: "admin",
    scope: "org:read",
    roles: everyone,
    params: { admin_id: TargetAdmin },
    success: Admin,
    sample: samples.getAdmin,
    failures: [ResourceMissing]
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const managed = yield* ManagedAdmins
    const found = yield* managed.find(caller, admin_id, now)
    return found === null ? yield* new ResourceMissing({ param: "admin_id" }) : admin(found, caller)
  })
)
