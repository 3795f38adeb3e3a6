import { Effect } from "effect"
import { DepartmentId } from "../../domain/accounts/Account.ts"
import { defaultPageLimit, page, PlainList } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { everyone } from "../../domain/people/Access.ts"
import { Department, department } from "../../domain/people/Department.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./people.samples.ts"

export const listDepartments = Operation.read(
  "list_departments",
  {
    summary: "List the departments by name, each with the number of its accounts that the caller can access.",
    description:
      "Roles and connections that can access only some accounts see the departments that they are granted, and those of an account that they can access.",
    method: "GET",
    path: "/v1/departments",
    toolset: "accounts",
    scope: "org:read",
    roles: everyone,
    query: paging(DepartmentId, "departments", "department"),
    success: PlainList(Department).annotate({ identifier: "department_list" }),
    sample: samples.listDepartments
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after }, { caller }) {
    const departments = yield* Departments
    const found = yield* departments.list(caller, { after: starting_after, limit })
    const rows = yield* pageRows(found, "there is no such department.")
    return page(rows.map(department), limit)
  })
)
