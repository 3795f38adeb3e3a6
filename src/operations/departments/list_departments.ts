import { Effect, Schema } from "effect"
import { everyone } from "../../domain/Access.ts"
import { DepartmentId } from "../../domain/Account.ts"
import { Department, department } from "../../domain/Department.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { defaultPageLimit, page, PageLimit, PlainList } from "../../domain/Wire.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Departments } from "../../ports/Departments.ts"
import { sample } from "./list_departments.sample.ts"

export const listDepartments = Operation.read(
  "list_departments",
  {
    summary: "List the departments by name, each with the number of its accounts that the caller reaches.",
    description:
      "Roles and connections that reach some accounts alone see the departments that they are granted, and those of an account that they reach.",
    method: "GET",
    path: "/v1/departments",
    toolset: "accounts",
    scope: "org:read",
    roles: everyone,
    query: {
      limit: Schema.optionalKey(PageLimit).annotateKey({ description: "The most departments on a page." }),
      starting_after: Schema.optionalKey(DepartmentId).annotateKey({
        description: "Id of the last department of the previous page; left out for the first page."
      })
    },
    success: PlainList(Department).annotate({ identifier: "department_list" }),
    sample
  },
  ({ limit = defaultPageLimit, starting_after }, { caller }) =>
    Effect.gen(function*() {
      const departments = yield* Departments
      const rows = yield* departments.list(caller, { after: starting_after, limit })
      if (rows === null) {
        return yield* new ParameterInvalid({
          param: "starting_after",
          message: "starting_after: there is no such department."
        })
      }
      return page(rows.map(department), limit)
    })
)
