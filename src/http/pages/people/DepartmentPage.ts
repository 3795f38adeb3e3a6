/** One department: its name, its accounts, and filing others under it. */
import { Effect } from "effect"
import type { Account } from "../../../domain/accounts/Account.ts"
import { DepartmentId } from "../../../domain/accounts/Account.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxDepartmentNameLength, maxSearchLength } from "../../../domain/Limits.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { findAccounts } from "../../../operations/accounts/find_accounts.ts"
import { listProtectedAccounts } from "../../../operations/accounts/list_protected_accounts.ts"
import { deleteDepartment } from "../../../operations/people/delete_department.ts"
import { renameDepartment } from "../../../operations/people/rename_department.ts"
import { setAccountDepartment } from "../../../operations/people/set_account_department.ts"
import { Db } from "../../../ports/Db.ts"
import { Departments } from "../../../ports/people/Departments.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as Refusals from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

type Act = "delete" | "file" | "rename" | "take-out"

const pathOf = (id: string): `/${string}` => `${Words.departmentsPath}/${id}`
const actPath = (id: string, act: Act): `/${string}` => `${pathOf(id)}/${act}`
const tokenOf = (id: string, act: Act, account = ""): string => `${act} ${account} of department ${id}`

const dones: ReadonlyMap<string, string> = new Map([
  ["made", "The department is made. Find accounts below to file them under it."],
  ["rename", "The name is changed."],
  ["file", "The account is filed under this department."],
  ["take-out", "The account is under no department any more."]
])

interface Shown extends Refusals.FormRefusal {
  readonly name?: string
}

/** The department, or 404; its own page is for those who see every one. */
const find = Effect.fnUntraced(function*(view: Visit.View, text: string) {
  const caller = Visit.caller(view.visit, view.admin)
  const departments = yield* Departments
  const found = !isUuid(text)
    ? null
    : yield* (yield* Db).read(caller.organizationId, departments.find(caller, DepartmentId.make(text)))
  return found ?? (yield* new ResourceMissing({ param: "department_id" }))
})

/** An account with the one thing that is done to it here. */
const row = (view: Visit.View, id: string, act: "file" | "take-out", back: string) => (account: Account): Html.Html =>
  html`<li>
  <div class="head">
    <div><h3>${Html.named(account.name)}</h3><p class="hint">${PhoneNumber.shown(account.phone_number)}${
    account.role_label === null ? undefined : html` · ${Html.named(account.role_label)}`
  }${act === "file" && account.department_id !== null ? " · filed under another department" : undefined}</p></div>
    <form method="post" action="${view.visit.base}${actPath(id, act)}">
      ${Forms.hidden(view, tokenOf(id, act, account.id), { account: account.id, find: back })}
      <button>${act === "file" ? "File here" : "Take out"}<span class="unseen">: ${account.name}</span></button>
    </form>
  </div>
</li>`

const search = Effect.fnUntraced(function*(view: Visit.View, id: string, needle: string) {
  if (needle === "") return undefined
  const { data } = yield* findAccounts.call({ query: needle })
  const others = data.filter(({ department_id }) => department_id !== id)
  return others.length === 0
    ? html`<p class="empty" role="status">No account outside this department is found.</p>`
    : html`<ul class="plain">${others.map(row(view, id, "file", needle))}</ul>`
})

const changes = (view: Visit.View, department: Omit<Department, "object">, { faults, name }: Shown): Html.Html => {
  const { base } = view.visit
  return html`
<section aria-labelledby="changes">
  <h2 id="changes">Changes</h2>
  <form method="post" action="${base}${actPath(department.id, "rename")}">
    ${Forms.hidden(view, tokenOf(department.id, "rename"))}
    <label for="name" class="name">Name</label>
    ${Html.fault(faults, "name")}
    <div class="row">
      <input type="text" id="name" name="name" required maxlength="${maxDepartmentNameLength}" value="${
    name ?? department.name
  }" autocomplete="off"${Html.described(faults, "name", false)}>
      <button>Rename</button>
    </div>
  </form>
  ${
    Forms.confirmed(view, {
      grave: true,
      path: actPath(department.id, "delete"),
      token: tokenOf(department.id, "delete"),
      members: {},
      verb: "Delete",
      label: Html.named(department.name),
      consequence: "A department that nothing uses is deleted for good: no account, no admin and no application."
    })
  }
</section>`
}

const show = Effect.fnUntraced(function*(view: Visit.View, text: string, shown: Shown) {
  const { base, query: sent } = view.visit
  const department = yield* find(view, text)
  const { id, name } = department
  const query = new URLSearchParams(sent)
  const after = Words.after(query)
  const needle = (query.get("find") ?? "").replaceAll("\0", "").trim().slice(0, maxSearchLength)
  const { data, has_more } = yield* listProtectedAccounts.call({
    department_id: id,
    limit: 50,
    ...(after === undefined ? {} : { starting_after: after })
  })
  const found = yield* search(view, id, needle)
  const done = dones.get(query.get("done") ?? "")
  return yield* Frame.page(view, {
    title: name,
    faults: shown.faults,
    status: shown.status,
    headers: shown.headers,
    body: html`
<p class="back"><a href="${base}${Words.departmentsPath}">Departments</a></p>
<h1>${Html.named(name)}</h1>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${
      Html.summary(
        new Map([...shown.faults].map(([field, fault]) => [field === "main" ? "changes" : field, fault] as const))
      )
    }
<section aria-labelledby="accounts">
  <h2 id="accounts">Accounts: ${department.accounts.toLocaleString("en")}</h2>
  ${
      data.length === 0
        ? html`<p class="empty">No account is filed here.</p>`
        : html`<ul class="plain">${data.map(row(view, id, "take-out", needle))}</ul>`
    }
  ${Words.pages(`${base}${pathOf(id)}`, {}, { after, next: has_more ? data.at(-1)?.id : undefined })}
</section>
<section aria-labelledby="filing">
  <h2 id="filing">File an account here</h2>
  <form method="get" action="${base}${pathOf(id)}" role="search">
    <label for="find" class="name">Name, phone number or label</label>
    <div class="row">
      <input type="search" id="find" name="find" value="${needle}" maxlength="${maxSearchLength}" required autocomplete="off" spellcheck="false">
      <button>Find</button>
    </div>
  </form>
  ${found}
</section>
${changes(view, department, shown)}`
  })
})

const get = (visit: Visit.Visit) => {
  const id = visit.params["department_id"] ?? ""
  return Visit.asAdmin(visit, pathOf(id), (view) => Refusals.administered(view, show(view, id, Refusals.none)))
}

const change = <A, E, R>(act: Act, run: (id: string, form: SentForm.Form) => Effect.Effect<A, E, R>) =>
  Visit.route("POST", actPath(":department_id", act), (visit) => {
    const id = visit.params["department_id"] ?? ""
    return Forms.submitted(visit, pathOf(id), (form) => tokenOf(id, act, form.text("account")), (form, view) => {
      const to = act === "delete" ? `${Words.departmentsPath}?done=deleted` : `${pathOf(id)}?done=${act}`
      const found = form.text("find")
      const query = found === "" ? "" : `&find=${encodeURIComponent(found)}`
      return run(id, form).pipe(
        Effect.map(() => Html.redirect(`${visit.base}${to}${query}`)),
        Refusals.again((refusal) =>
          show(view, id, { ...refusal, ...(act === "rename" ? { name: form.text("name") } : {}) })
        )
      )
    })
  })

export const routes = [
  Visit.route("GET", pathOf(":department_id"), get),
  change("rename", (id, form) => renameDepartment.call({ department_id: id, name: form.text("name").trim() })),
  change("delete", (id) => deleteDepartment.call({ department_id: id })),
  change("file", (id, form) => setAccountDepartment.call({ account_id: form.text("account"), department_id: id })),
  change("take-out", (_, form) => setAccountDepartment.call({ account_id: form.text("account"), department_id: null }))
] as const
