/** The departments: the list, and making one. */
import { Effect } from "effect"
import type { Department } from "../../../domain/people/Department.ts"
import { createDepartment } from "../../../operations/people/create_department.ts"
import { listDepartments } from "../../../operations/people/list_departments.ts"
import { type AdminPage, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import { administrators, refusalsAt } from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

const path = Words.departmentsPath

const row = (base: string) => ({ accounts, id, name }: Department): Html.Html =>
  html`<tr>
  <th scope="row"><a href="${base}${path}/${id}">${Html.named(name)}</a></th>
  <td data-label="Accounts">${accounts.toLocaleString("en")}</td>
</tr>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base, query: text } = view.visit
  const query = new URLSearchParams(text)
  const after = Words.after(query)
  const { data, has_more } = yield* listDepartments.call({
    limit: 50,
    ...(after === undefined ? {} : { starting_after: after })
  })
  return yield* Frame.page(view, {
    title: "Departments",
    wide: true,
    outcome,
    body: html`
<h1>People</h1>
${Words.tabs(base, "departments")}
${Form.notice(outcome)}
<p class="lead">Accounts are filed under departments, and whoever is granted one can access its accounts.</p>
<section aria-label="Make a department">
  ${
      Forms.open(
        view,
        { path },
        Words.departmentName(outcome, outcome.sent?.text("name").trim(), "New department", html`class="main"`, "Make")
      )
    }
</section>
${
      data.length === 0 ? html`<p class="empty">There are no departments yet.</p>` : html`<table>
  <caption class="unseen">Departments by name</caption>
  <thead><tr><th scope="col">Department</th><th scope="col">Accounts</th></tr></thead>
  <tbody>${data.map(row(base))}</tbody>
</table>`
    }
${Words.pages(`${base}${path}`, {}, { after, next: has_more ? data.at(-1)?.id : undefined })}`
  })
})

const page = Form.page({
  path,
  show,
  only: administrators,
  refusals: refusalsAt("main"),
  strict: true,
  done: { deleted: "The department is deleted." }
})

export const routes = page.routes([
  page.form({
    name: "",
    submit: ({ form }) => createDepartment.call({ name: form.text("name").trim() }),
    next: ({ id }) => `${path}/${id}?done=made`
  })
])
