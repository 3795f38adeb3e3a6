/** The list of admins. */
import { Effect } from "effect"
import { Role } from "../../../domain/people/Access.ts"
import { type Admin, AdminStatus } from "../../../domain/people/Admin.ts"
import { listAdmins } from "../../../operations/people/list_admins.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Notices from "../kit/PageNotices.ts"
import * as Visit from "../kit/Visit.ts"
import { administered } from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

const { path } = Words

const dones: ReadonlyMap<string, string> = new Map([
  ["removed", "The admin is removed: their keys, connections and sessions have ended."],
  ["owner", "The ownership is transferred. You are a superadmin now."]
])

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

const options = (all: ReadonlyArray<readonly [value: string, text: string]>, chosen: string | undefined): Html.Html =>
  html`<option value="">All</option>${
    all.map(([value, text]) => html`<option value="${value}"${value === chosen ? " selected" : ""}>${text}</option>`)
  }`

const show = Effect.fnUntraced(function*(view: Visit.View) {
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
  const done = dones.get(query.get("done") ?? "")
  const showNotices = yield* Notices.make(view)
  return yield* Frame.page(view, {
    title: "People",
    wide: true,
    body: html`
<h1>People</h1>
${Words.tabs(base, "admins")}
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${showNotices()}
<div class="head">
  <form method="get" action="${base}${path}" class="filter">
    <div><label for="role">Role</label>
    <select id="role" name="role">${
      options(Role.literals.map((each) => [each, Words.roles[each][0]] as const), role)
    }</select></div>
    <div><label for="status">State</label>
    <select id="status" name="status">${
      options(AdminStatus.literals.map((each) => [each, Words.statuses[each]] as const), status)
    }</select></div>
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

const get = (visit: Visit.Visit) => Visit.asAdmin(visit, path, (view) => administered(view, show(view)))

export const routes = [Visit.route("GET", path, get)] as const
