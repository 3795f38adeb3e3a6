import { Effect, Schema } from "effect"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { everyone, Role } from "../../domain/people/Access.ts"
import { Admin, admin, AdminId, AdminStatus } from "../../domain/people/Admin.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import * as samples from "./people.samples.ts"

export const listAdmins = Operation.read(
  "list_admins",
  {
    summary: "List the admins, the owner first and then by address.",
    description: "Owner and superadmins see all of them, any other role itself alone. Removed admins are not listed.",
    method: "GET",
    path: "/v1/admins",
    toolset: "admin",
    scope: "org:read",
    roles: everyone,
    query: {
      role: Schema.optionalKey(Role).annotateKey({ description: "Only admins of this role." }),
      status: Schema.optionalKey(AdminStatus).annotateKey({ description: "Only admins in this state." }),
      ...paging(AdminId, "admins", "admin")
    },
    success: PlainList(Admin).annotate({ identifier: "admin_list" }),
    sample: samples.listAdmins
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, role, starting_after, status }, { caller, now }) {
    const managed = yield* ManagedAdmins
    const found = yield* managed.list(caller, { role, status, after: starting_after, limit }, now)
    const rows = yield* pageRows(found, "there is no such admin.")
    return page(rows.map((row) => admin(row, caller)), limit)
  })
)
