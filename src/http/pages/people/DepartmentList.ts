/** The departments: the list, and making one. */
import { Effect } from "effect"
import { maxDepartmentNameLength } from "../../../domain/Limits.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { createDepartment } from "../../../operations/people/create_department.ts"
import { listDepartments } from "../../../operations/people/list_departments.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Visit from "../kit/Visit.ts"
import * as Refusals from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

const path = Words.departmentsPath

/** The text that the form's token is bound to. */
const token = "create department"

interface Shown extends Refusals.FormRefusal {
  readonly name: string
}

const empty: Shown = { ...Refusals.none, name: "" }

const row = (base: string) => ({ accounts, id, name }: Department): Html.Html =>
  html`<tr>
  <th scope="row"><a href="${base}${path}/${id}">${Html.named(name)}</a></th>
  <td data-label="Accounts">${accounts.toLocaleString("en")}</td>
</tr>`

const show = Effect.fnUntraced(function*(view: Visit.View, { faults, headers, name, status }: Shown) {
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
    faults,
    status,
    headers,
    body: html`
<h1>People</h1>
${Words.tabs(base, "departments")}
${query.get("done") === "deleted" ? html`<p class="good" role="status">The department is deleted.</p>` : undefined}
${Html.summary(faults)}
<p class="lead">Accounts are filed under departments, and whoever is granted one can access its accounts.</p>
<section aria-label="Make a department">
  <form method="post" action="${base}${path}">
    ${Forms.hidden(view, token)}
    <label for="name" class="name">New department</label>
    ${Html.fault(faults, "name")}
    <div class="row">
      <input type="text" id="name" name="name" required maxlength="${maxDepartmentNameLength}" value="${name}" autocomplete="off"${
      Html.described(faults, "name", false)
    }>
      <button class="main">Make</button>
    </div>
  </form>
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

const get = (visit: Visit.Visit) => Visit.asAdmin(visit, path, (view) => Refusals.administered(view, show(view, empty)))

const post = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, () => token, (form, view) => {
    const name = form.text("name").trim()
    return createDepartment.call({ name }).pipe(
      Effect.map(({ id }) => Html.redirect(`${visit.base}${path}/${id}?done=made`)),
      Refusals.again((refusal) => show(view, { ...refusal, name }))
    )
  })

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
