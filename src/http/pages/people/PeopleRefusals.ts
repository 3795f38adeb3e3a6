/** Shared by the pages of admins and departments: roles, and the words of refusals. */
import { Effect } from "effect"
import { superadmins } from "../../../domain/people/Access.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import type * as Form from "../kit/Form.ts"
import * as StepUp from "../signin/StepUp.ts"

export const administrators = [
  superadmins,
  "Only the owner and superadmins see and change who administers the organization."
] as const

const wrongPassword = "This is not your console password."

/** The refusals of the operations on admins and departments; those about no field link to the id `main`. */
export const refusalsAt = (main: string): Form.Refusals => ({
  access_not_applicable: ["role"],
  admin_exists: ["email", "Somebody with this address is an admin already, or is invited."],
  admin_protected: [main],
  department_exists: ["name", "There is a department of this name already."],
  department_in_use: [
    main,
    "This department is in use: move its accounts, and take it from the admins and applications that have it, first."
  ],
  not_disabled: [main, "This admin is not disabled any more."],
  not_enabled: [main, "This admin is disabled already."],
  not_invited: [main, "There is no invitation to send: the admin has joined already, or is disabled."],
  not_superadmin: [main],
  owner_required: [main],
  password_incorrect: ["password", wrongPassword],
  too_many_attempts: (problem) => [problem.includes("password") ? "password" : main],
  [StepUp.refusedCode]: [main],
  superadmin_required: [main, "You may not do this any more: your role has changed."],
  email: "Enter an address such as ada@example.com.",
  name: "Give a name on one line, without spaces around it, of at most 80 characters.",
  role: "Choose a role.",
  account_ids: ["accounts", "An account that is ticked is not there any more."],
  department_ids: ["departments", "A department that is ticked is not there any more."],
  current_password: ["password", wrongPassword]
})

/** Fails unless the form has the admin's password, for an operation that does not check it itself. */
export const checkPassword = ({ form, view }: Form.Sent) =>
  Effect.flatMap(
    ConsoleSessions,
    (sessions) => sessions.verifyPassword(view.admin, form.secret("password"), view.visit.ip)
  )
