/** One department: its name, its accounts, and filing others under it. */
import { Effect } from "effect"
import type { Account } from "../../../domain/accounts/Account.ts"
import { DepartmentId } from "../../../domain/accounts/Account.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxSearchLength } from "../../../domain/Limits.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { findAccounts } from "../../../operations/accounts/find_accounts.ts"
import { listProtectedAccounts } from "../../../operations/accounts/list_protected_accounts.ts"
import { deleteDepartment } from "../../../operations/people/delete_department.ts"
import { renameDepartment } from "../../../operations/people/rename_department.ts"
import { setAccountDepartment } from "../../../operations/people/set_account_department.ts"
import { Db } from "../../../ports/Db.ts"
import { Departments } from "../../../ports/people/Departments.ts"
import { type AdminPage, Form, Forms, Frame, Html, html, Serving } from "../kit/index.ts"
import { administrators, refusalsAt } from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

type Action = "delete" | "file" | "rename" | "take-out"

const pathOf = (id: string): `/${string}` => `${Words.departmentsPath}/${id}`
const actionPath = (id: string, action: Action) => `${pathOf(id)}/${action}` as const

/** The department, or 404; its own page is for those who see every one. */
const find = Effect.fnUntraced(function*(view: AdminPage, text: string) {
  const caller = Serving.caller(view.visit, view.admin)
  const departments = yield* Departments
  const found = !isUuid(text)
    ? null
    : yield* (yield* Db).read(caller.organizationId, departments.find(caller, DepartmentId.make(text)))
  return found ?? (yield* new ResourceMissing({ param: "department_id" }))
})

/** An account with the one thing that is done to it here. */
const row = (view: AdminPage, id: string, action: "file" | "take-out", find: string) => (account: Account): Html.Html =>
  html`<li>
  <div class="head">
    <div><h3>${Html.named(account.name)}</h3><p class="hint">${PhoneNumber.shown(account.phone_number)}${
    account.role_label === null ? undefined : html` · ${Html.named(account.role_label)}`
  }${action === "file" && account.department_id !== null ? " · filed under another department" : undefined}</p></div>
    ${
    Forms.open(
      view,
      { path: actionPath(id, action), about: ["account", account.id], members: { find } },
      html`<button>${
        action === "file" ? "File here" : "Take out"
      }<span class="unseen">: ${account.name}</span></button>`
    )
  }
  </div>
</li>`

const search = Effect.fnUntraced(function*(view: AdminPage, id: string, needle: string) {
  if (needle === "") return undefined
  const { data } = yield* findAccounts.call({ query: needle })
  const others = data.filter(({ department_id }) => department_id !== id)
  return others.length === 0
    ? html`<p class="empty" role="status">No account outside this department is found.</p>`
    : html`<ul class="plain">${others.map(row(view, id, "file", needle))}</ul>`
})

const changes = (view: AdminPage, { id, name }: Omit<Department, "object">, outcome: Form.Outcome): Html.Html => {
  const typed = outcome.form === "rename" ? outcome.sent?.text("name") : undefined
  return html`
<section aria-labelledby="changes">
  <h2 id="changes">Changes</h2>
  ${
    Forms.open(
      view,
      { path: actionPath(id, "rename") },
      Words.departmentName(outcome, typed ?? name, "Name", undefined, "Rename")
    )
  }
  ${
    Forms.confirmed(view, {
      grave: true,
      path: actionPath(id, "delete"),
      verb: "Delete",
      label: Html.named(name),
      consequence: "A department that nothing uses is deleted for good: no account, no admin and no application."
    })
  }
</section>`
}

const show = Effect.fnUntraced(function*(view: AdminPage, text: string, outcome: Form.Outcome) {
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
  return yield* Frame.page(view, {
    title: name,
    outcome,
    body: html`
<p class="back"><a href="${base}${Words.departmentsPath}">Departments</a></p>
<h1>${Html.named(name)}</h1>
${Form.notice(outcome)}
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
${changes(view, department, outcome)}`
  })
})

const page = Form.page({
  path: pathOf(":department_id"),
  show,
  only: administrators,
  refusals: refusalsAt("changes"),
  strict: true,
  done: { made: "The department is made. Find accounts below to file them under it." }
})

/** Back to the page, with what was searched. */
const next = (action: Action) => (_: unknown, { form, id }: Form.Sent): string => {
  const find = form.text("find")
  return `${pathOf(id)}?done=${action}${find === "" ? "" : `&find=${encodeURIComponent(find)}`}`
}

export const routes = page.routes([
  page.form({
    name: "rename",
    submit: ({ form, id }) => renameDepartment.call({ department_id: id, name: form.text("name").trim() }),
    done: "The name is changed."
  }),
  page.form({
    name: "delete",
    submit: ({ id }) => deleteDepartment.call({ department_id: id }),
    next: () => `${Words.departmentsPath}?done=deleted`
  }),
  page.form({
    name: "file",
    about: "account",
    submit: ({ form, id }) => setAccountDepartment.call({ account_id: form.text("account"), department_id: id }),
    next: next("file"),
    done: "The account is filed under this department."
  }),
  page.form({
    name: "take-out",
    about: "account",
    submit: ({ form }) => setAccountDepartment.call({ account_id: form.text("account"), department_id: null }),
    next: next("take-out"),
    done: "The account is under no department any more."
  })
])
