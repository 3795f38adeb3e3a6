/** Beginning to connect an account: its number, and how the organization files it. */
import { Effect } from "effect"
import { maxRoleLabelLength } from "../../../domain/Limits.ts"
import { typed } from "../../../domain/logins/PhoneNumber.ts"
import { protectors } from "../../../domain/people/Access.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { startAccountConnect } from "../../../operations/logins/start_account_connect.ts"
import { type AdminPage, Fields, Form, Forms, Frame, type Html, html, Lists, type SentForm } from "../kit/index.ts"
import * as AccountLogin from "./AccountLogin.ts"
import * as OpenLogins from "./OpenLogins.ts"

export const path = "/console/accounts/connect"

interface Draft {
  readonly number: string
  readonly department: string
  readonly label: string
}

const empty: Draft = { number: "", department: "", label: "" }

const draftOf = (form: SentForm.Form): Draft => ({
  number: form.text("phone_number").trim(),
  department: form.text("department_id"),
  label: form.text("role_label").trim()
})

const fields = (faults: Html.Faults, draft: Draft, departments: ReadonlyArray<Department>): Html.Html => {
  const number = {
    name: "phone_number",
    label: "Phone number",
    hint: "With the country code, such as +1 202 555 0143."
  }
  const label = { name: "role_label", label: "Label", hint: "Your own name for the account. May be left out." }
  const choices = [["", "None"] as const, ...departments.map(({ id, name }) => [id, name] as const)]
  return html`${
    Fields.input(faults, number, {
      required: true,
      inputmode: "tel",
      value: draft.number,
      maxlength: 40,
      ...Fields.verbatim
    })
  }
  ${
    departments.length === 0
      ? undefined
      : Fields.select(faults, { name: "department_id", label: "Department" }, choices, draft.department)
  }
  ${Fields.input(faults, label, { value: draft.label, maxlength: maxRoleLabelLength, autocomplete: "off" })}`
}

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base } = view.visit
  const draft = outcome.sent === undefined ? empty : draftOf(outcome.sent)
  const departments = yield* Lists.departments
  const unfinished = yield* OpenLogins.section(view)
  return yield* Frame.page(view, {
    title: "Connect an account",
    outcome,
    body: html`
<p class="back"><a href="${base}/console/accounts">Accounts</a></p>
<h1>Connect an account</h1>
<p class="lead">The messenger sends a code to the account’s holder, who tells it to you: have them at hand. The account then holds a seat and is watched.</p>
${Form.notice(outcome)}
${
      Forms.open(
        view,
        { path, class: "card" },
        html`${fields(outcome.faults, draft, departments)}
  <div class="actions">
    <button class="main">Send the code</button>
    <a class="button" href="${base}/console/accounts">Cancel</a>
  </div>`
      )
    }
${unfinished}`
  })
})

const page = Form.page({
  path,
  show,
  only: [protectors, "The owner, superadmins and admins connect accounts."],
  refusals: {
    phone_number: "Enter the number with its country code, such as +1 202 555 0143.",
    department_id: "Choose a department that you may file the account under.",
    role_label: `Give a label on one line, of at most ${maxRoleLabelLength} characters.`
  }
})

export const routes = page.routes([
  page.form({
    name: "",
    submit: ({ form }) => {
      const { department, label, number } = draftOf(form)
      return startAccountConnect.call({
        phone_number: typed(number),
        ...(department === "" ? {} : { department_id: department }),
        ...(label === "" ? {} : { role_label: label })
      })
    },
    next: ({ id }) => AccountLogin.pathOf(id)
  })
])
