/** The list of admins. */
import { Effect } from "effect"
import { Role } from "../../../domain/people/Access.ts"
import { type Admin, AdminStatus } from "../../../domain/people/Admin.ts"
import { listAdmins } from "../../../operations/people/list_admins.ts"
import { type AdminPage, Fields, Form, Frame, Html, html, Notices } from "../kit/index.ts"
import { administrators } from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

const { path } = Words

const row = (base: string) => (admin: Admin): Html.Html =>
  html`<tr>
  <th scope="row"><a href="${base}${path}/${admin.id}">${Words.called(admin)}</a>${admin.mine ? " (you)" : undefined}${
    admin.name === null ? undefined : html`<br><span class="hint">${admin.email}</span>`
  }</th>
  <td data-label="Role">${Words.roles[admin.role][0]}</td>
  <td data-label="Access">${Words.accessOf(admin)}</td>
  <td data-label="Last active">${admin.last_active_at === null ? "Never" : Html.dayOf(admin.last_active_at)}</td>
  <td data-label="State">${Words.badge(admin)}</td>
</tr>`

const all = ["", "All"] as const

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base, query: text } = view.visit
  const query = new URLSearchParams(text)
  const role = Role.literals.find((each) => each === query.get("role"))
  const status = AdminStatus.literals.find((each) => each === query.get("status"))
  const after = Words.after(query)
  const filters = { ...(role === undefined ? {} : { role }), ...(status === undefined ? {} : { status }) }
  const { data, has_more } = yield* listAdmins.call({
    limit: 50,
    ...filters,
    ...(after === undefined ? {} : { starting_after: after })
  })
  const showNotices = yield* Notices.make(view)
  return yield* Frame.page(view, {
    title: "People",
    wide: true,
    body: html`
<h1>People</h1>
${Words.tabs(base, "admins")}
${Form.notice(outcome)}
${showNotices()}
<div class="head">
  <form method="get" action="${base}${path}" class="filter">
    ${Fields.filter("role", "Role", [all, ...Role.literals.map((each) => [each, Words.roles[each][0]] as const)], role)}
    ${
      Fields.filter(
        "status",
        "State",
        [all, ...AdminStatus.literals.map((each) => [each, Words.statuses[each]] as const)],
        status
      )
    }
    <button>Show</button>
  </form>
  <a class="button main" href="${base}${path}/invite">Invite an admin</a>
</div>
${
      data.length === 0 ? html`<p class="empty">No admin is of this role and state.</p>` : html`<table>
  <caption class="unseen">Admins, the owner first</caption>
  <thead><tr><th scope="col">Admin</th><th scope="col">Role</th><th scope="col">Access</th><th scope="col">Last active</th><th scope="col">State</th></tr></thead>
  <tbody>${data.map(row(base))}</tbody>
</table>`
    }
${Words.pages(`${base}${path}`, filters, { after, next: has_more ? data.at(-1)?.id : undefined })}`
  })
})

export const routes = Form.page({
  path,
  show,
  only: administrators,
  done: {
    removed: "The admin is removed: their keys, connections and sessions have ended.",
    owner: "The ownership is transferred. You are a superadmin now."
  }
}).routes([])
