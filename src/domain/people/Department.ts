/** Departments: what accounts are filed under, and admins are granted. */
import { Schema } from "effect"
import { DepartmentId } from "../accounts/Account.ts"
import { Count, described, Kind, Line, Timestamp } from "../JsonShapes.ts"
import { maxDepartmentNameLength } from "../Limits.ts"

/** The department that an operation is about, as a member of its path. */
export const TargetDepartment = DepartmentId.annotateKey({ description: "From list_departments." })

/** A department's name as it is sent. */
export const DepartmentName = Line(maxDepartmentNameLength).annotateKey({
  description: "The department's name; no other of the organization has it, whatever the case."
})

export const Department = Schema.Struct({
  object: Kind("department"),
  id: described(DepartmentId, "The department's id: a UUID."),
  name: described(Schema.String, "The department's name."),
  accounts: described(Count, "How many of its accounts the caller can access."),
  created_at: described(Timestamp, "When it was made.")
}).annotate({ identifier: "department" })
export type Department = typeof Department.Type

export const DeletedDepartment = Schema.Struct({
  object: Kind("department"),
  id: described(DepartmentId, "The id of the department that was deleted: a UUID."),
  deleted: described(Schema.Literal(true), "Always true.")
}).annotate({ identifier: "department_deleted" })

/** The stored facts of a department, with the count of its accounts that the caller can access. */
export type DepartmentFacts = Omit<Department, "object">

/** The department as the API shows it. */
export const department = (facts: DepartmentFacts): Department => ({ object: "department", ...facts })

/** The form of a name that is unique and orders the list: without regard to case and compatibility forms. */
export const departmentKey = (name: string): string => name.normalize("NFKC").toLowerCase()
