import { Effect } from "effect"
import { DepartmentExists, ResourceMissing } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Department, department, DepartmentName, TargetDepartment } from "../../domain/people/Department.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./people.samples.ts"

export const renameDepartment = Operation.write(
  "rename_department",
  {
    summary: "Give a department another name; its accounts and whom it is granted to stay.",
    method: "PATCH",
    path: "/v1/departments/:department_id",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    idempotent: true,
    params: { department_id: TargetDepartment },
    body: { name: DepartmentName },
    success: Department,
    sample: samples.renameDepartment,
    failures: [ResourceMissing, DepartmentExists],
    journal: { action: "department.renamed", target: "department" }
  },
  Effect.fnUntraced(function*({ department_id, name }, { caller }) {
    const departments = yield* Departments
    const found = yield* departments.lock(caller, department_id)
    if (found === null) return yield* new ResourceMissing({ param: "department_id" })
    const answer = department({ ...found, name })
    if (name === found.name) return Operation.unchanged(answer)
    if (!(yield* departments.rename(caller.organizationId, department_id, name))) {
      return yield* new DepartmentExists({ param: "name" })
    }
    return Operation.changed(answer, { name, from: found.name }, department_id)
  })
)
