import { Effect } from "effect"
import { DepartmentExists } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { Department, department, DepartmentName } from "../../domain/people/Department.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./people.samples.ts"

export const createDepartment = Operation.write(
  "create_department",
  {
    summary: "Make a department, without accounts.",
    method: "POST",
    path: "/v1/departments",
    toolset: "admin",
    scope: "admins:write",
    roles: superadmins,
    idempotent: false,
    body: { name: DepartmentName },
    success: Department,
    sample: samples.createDepartment,
    failures: [DepartmentExists],
    journal: { action: "department.created", target: "department" }
  },
  Effect.fnUntraced(function*({ name }, { caller, now }) {
    const departments = yield* Departments
    const made = yield* departments.create(caller.organizationId, name, now)
    if (made === null) return yield* new DepartmentExists({ param: "name" })
    return Operation.changed(department(made), { name }, made.id)
  })
)
