/** Beginning to connect an account: its number, and how the organization files it. */
import { Effect } from "effect"
import { maxRoleLabelLength } from "../../../domain/Limits.ts"
import { typed } from "../../../domain/logins/PhoneNumber.ts"
import { protectors } from "../../../domain/people/Access.ts"
import { startAccountConnect } from "../../../operations/logins/start_account_connect.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import * as Problem from "../kit/Problem.ts"
import * as Refused from "../kit/RefusedForms.ts"
import * as Visit from "../kit/Visit.ts"
import * as AccountLogin from "./AccountLogin.ts"
import * as OpenLogins from "./OpenLogins.ts"

export const path = "/console/accounts/connect"

/** The text that the form's token is bound to. */
const token = "connect account"

interface Draft {
  readonly number: string
  readonly department: string
  readonly label: string
}

const empty: Draft = { number: "", department: "", label: "" }

const inputs = {
  phone_number: "Enter the number with its country code, such as +1 202 555 0143.",
  department_id: "Choose a department that you may file the account under.",
  role_label: `Give a label on one line, of at most ${maxRoleLabelLength} characters.`
}

const show = Effect.fnUntraced(function*(view: Visit.View, draft: Draft, refused?: Refused.RefusedForm) {
  if (!protectors.includes(view.admin.role)) {
    return yield* Problem.notForRole(view.visit, "The owner, superadmins and admins connect accounts.")
  }
  const departments = yield* Lists.departments
  const unfinished = yield* OpenLogins.section(view)
  const faults = Refused.faultsOf(refused, inputs)
  return yield* Frame.page(view, {
    title: refused === undefined ? "Connect an account" : "Problem: connect an account",
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<p class="back"><a href="${view.visit.base}/console/accounts">Accounts</a></p>
<h1>Connect an account</h1>
<p class="lead">The messenger sends a code to the account’s holder, who tells it to you: have them at hand. The account then holds a seat and is watched.</p>
${faults.size > 0 ? Html.summary(faults) : Refused.box(refused?.problem)}
<form method="post" action="${view.visit.base}${path}" class="card">
  ${Forms.hidden(view, token)}
  <div class="field">
    <label for="phone_number">Phone number</label>
    <p class="hint" id="phone_number-hint">With the country code, such as +1 202 555 0143.</p>
    ${Html.fault(faults, "phone_number")}
    <input type="text" id="phone_number" name="phone_number" required inputmode="tel" value="${draft.number}" maxlength="40" autocomplete="off" spellcheck="false"${
      Html.described(faults, "phone_number", true)
    }>
  </div>
  ${
      departments.length === 0 ? undefined : html`<div class="field">
    <label for="department_id">Department</label>
    ${Html.fault(faults, "department_id")}
    <select id="department_id" name="department_id"${Html.described(faults, "department_id", false)}>
      ${Lists.option("", "None", draft.department)}
      ${departments.map(({ id, name }) => Lists.option(id, name, draft.department))}
    </select>
  </div>`
    }
  <div class="field">
    <label for="role_label">Label</label>
    <p class="hint" id="role_label-hint">Your own name for the account. May be left out.</p>
    ${Html.fault(faults, "role_label")}
    <input type="text" id="role_label" name="role_label" value="${draft.label}" maxlength="${maxRoleLabelLength}" autocomplete="off"${
      Html.described(faults, "role_label", true)
    }>
  </div>
  <div class="actions">
    <button class="main">Send the code</button>
    <a class="button" href="${view.visit.base}/console/accounts">Cancel</a>
  </div>
</form>
${unfinished}`
  })
})

const get = (visit: Visit.Visit) => Visit.asAdmin(visit, path, (view) => show(view, empty))

const post = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, () => token, (form, view) => {
    const draft: Draft = {
      number: form.text("phone_number").trim(),
      department: form.text("department_id"),
      label: form.text("role_label").trim()
    }
    return startAccountConnect.call({
      phone_number: typed(draft.number),
      ...(draft.department === "" ? {} : { department_id: draft.department }),
      ...(draft.label === "" ? {} : { role_label: draft.label })
    }).pipe(
      Effect.map(({ id }) => Html.redirect(`${visit.base}${AccountLogin.pathOf(id)}`)),
      Refused.orShow((refused) => show(view, draft, refused))
    )
  })

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
