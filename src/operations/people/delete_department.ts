import { Effect } from "effect"
import { DepartmentInUse, ResourceMissing } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { DeletedDepartment, TargetDepartment } from "../../domain/people/Department.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./people.samples.ts"

export const deleteDepartment = Operation.write(
  "delete_department",
  {
    summary: "Delete a department that nothing uses.",
    description: "It is in use while it has accounts, an admin is granted it, or a connection is limited to it.",
    method: "DELETE",
    path: "/v1/departments/:department_id",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    params: { department_id: TargetDepartment },
    success: DeletedDepartment,
    sample: samples.deleteDepartment,
    failures: [ResourceMissing, DepartmentInUse],
    journal: { action: "department.deleted", target: "department" }
  },
  Effect.fnUntraced(function*({ department_id }, { caller, now }) {
    const departments = yield* Departments
    const found = yield* departments.lock(caller, department_id)
    if (found === null) return yield* new ResourceMissing({ param: "department_id" })
    if (!(yield* departments.remove(caller.organizationId, department_id, now))) return yield* new DepartmentInUse({})
    return Operation.changed(
      { object: "department" as const, id: department_id, deleted: true as const },
      { name: found.name },
      department_id
    )
  })
)
