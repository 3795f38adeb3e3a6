/** Refusals about departments. */
import { failure } from "../FailureBase.ts"

export class DepartmentExists
  extends failure<DepartmentExists>()(409, "department_exists", "Another department has this name.")
{}

export class DepartmentInUse extends failure<DepartmentInUse>()(
  409,
  "department_in_use",
  "The department still has accounts or open logins, or an admin or a connection is given it."
) {}
