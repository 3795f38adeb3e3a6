/** Refusals about departments. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class DepartmentExists extends Schema.TaggedError<DepartmentExists>()(
  "department_exists",
  fields("Another department has this name.")
) {
  static readonly status = 409
}

export class DepartmentInUse extends Schema.TaggedError<DepartmentInUse>()(
  "department_in_use",
  fields("The department still has accounts or open logins, or an admin or a connection is given it.")
) {
  static readonly status = 409
}
