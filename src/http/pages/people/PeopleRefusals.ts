/** The refusals of the operations on admins and departments, worded for the forms. */
import { Effect } from "effect"
import { superadmins } from "../../../domain/people/Access.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Problem from "../kit/Problem.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import type * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"

/** A form's fault, and how its page is answered. */
export interface FormRefusal {
  /** True if a list in the form was searched, which does nothing else. */
  readonly searched?: boolean
  readonly faults: Html.Faults
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** A page as it is at first, and after a search in it. */
export const none: FormRefusal = { faults: Html.noFaults, status: 200, headers: {} }
export const searched: FormRefusal = { ...none, searched: true }

/** The message after a search: Enter in any field searches, where lists are long. */
export const searchedNote = ({ searched = false }: FormRefusal): Html.Html | undefined =>
  searched ? html`<p class="note" role="status">Nothing is changed yet: finish the form below.</p>` : undefined

/** The field of a refusal, and its words where those of the operation are not meant for a form. */
const words: Readonly<Record<string, readonly [field: string, text?: string]>> = {
  access_not_applicable: ["role"],
  admin_exists: ["email", "Somebody with this address is an admin already, or is invited."],
  admin_protected: ["main"],
  department_exists: ["name", "There is a department of this name already."],
  department_in_use: [
    "main",
    "This department is in use: move its accounts, and take it from the admins and applications that have it, first."
  ],
  not_disabled: ["main", "This admin is not disabled any more."],
  not_enabled: ["main", "This admin is disabled already."],
  not_invited: ["main", "There is no invitation to send: the admin has joined already, or is disabled."],
  not_superadmin: ["main"],
  owner_required: ["main"],
  password_incorrect: ["password", "This is not your console password."],
  [StepUp.refusedCode]: ["main"],
  superadmin_required: ["main", "You may not do this any more: your role has changed."]
}

const inputs: Readonly<Record<string, readonly [field: string, text: string]>> = {
  email: ["email", "Enter an address such as ada@example.com."],
  name: ["name", "Give a name on one line, without spaces around it, of at most 80 characters."],
  role: ["role", "Choose a role."],
  account_ids: ["accounts", "An account that is ticked is not there any more."],
  department_ids: ["departments", "A department that is ticked is not there any more."]
}

/** The refusal as a form shows it; null for a refusal with a page of its own. */
const shownOf = ({ code, headers, param, problem, status }: Refused.RefusedForm): FormRefusal | null => {
  const input = param === undefined ? undefined : inputs[param]
  const [field, text] = code === "parameter_invalid" || code === "resource_missing"
    ? input ?? []
    : code === "too_many_attempts"
    ? [problem.includes("password") ? "password" : "main"]
    : words[code] ?? []
  return field === undefined ? null : { faults: new Map([[field, text ?? problem]]), status, headers }
}

/** Shows a form again with what was refused. */
export const again =
  <B, E2, R2>(show: (refusal: FormRefusal) => Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.catch(effect, (failure): Effect.Effect<B, E | E2, R2> => {
      const refused = Refused.of(failure)
      const refusal = shownOf(refused)
      return refusal === null
        ? Effect.fail(failure)
        : Effect.andThen(RequestLog.noteFailure(refused.code), show(refusal))
    })

/** Runs a page for owners and superadmins; any other role gets a page that names the roles. */
export const administered = <A, E, R>(view: Visit.View, page: Effect.Effect<A, E, R>) =>
  superadmins.includes(view.admin.role)
    ? page
    : Problem.notForRole(view.visit, "Only the owner and superadmins see and change who administers the organization.")

/** The password field of what gives or takes rights. */
export const passwordField = ({ admin }: Visit.View, faults: Html.Faults): Html.Html =>
  html`
<div class="field">
  <label for="password">Your console password</label>
  <p class="hint" id="password-hint">Asked for again, because this changes what somebody may do.</p>
  ${Html.fault(faults, "password")}
  <input type="text" name="username" value="${admin.email}" autocomplete="username" hidden>
  <input type="password" id="password" name="password" required autocomplete="current-password"${
    Html.described(faults, "password", true)
  }>
</div>`

/** Fails unless the form has the admin's password, and the second factor, if any, was given recently. */
export const checkPassword = Effect.fnUntraced(function*({ admin, visit }: Visit.View, form: SentForm.Form) {
  const sessions = yield* ConsoleSessions
  yield* sessions.verifyPassword(admin, form.secret("password"), visit.ip)
  yield* StepUp.demand({ admin, visit })
})
