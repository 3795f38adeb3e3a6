/**
 * The accounts that the admin can access: their statuses, what has to be reviewed first, and the list to find one in.
 */
import { Duration, Effect } from "effect"
import type { Account } from "../../../domain/accounts/Account.ts"
import type { AccountStatus } from "../../../domain/accounts/ProtectionStatus.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxSearchLength, maxSearchLimit, statusSamplesKept } from "../../../domain/Limits.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import type { StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import { canAccessEveryAccount, protectors } from "../../../domain/people/Access.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { findAccounts } from "../../../operations/accounts/find_accounts.ts"
import { listProtectedAccounts } from "../../../operations/accounts/list_protected_accounts.ts"
import { getStatus } from "../../../operations/organization/get_status.ts"
import { Db } from "../../../ports/Db.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { Overview } from "../../../ports/organization/StatusOverview.ts"
import { Fields, Frame, Html, html, Lists, Notices, Refresh, Serving } from "../kit/index.ts"
import type { AdminPage, PageRequest } from "../kit/index.ts"
import * as AccountConnect from "../logins/AccountConnect.ts"
import * as OpenLogins from "../logins/OpenLogins.ts"
import { mailsPath } from "../organization/OrganizationTabs.ts"
import * as Reviews from "../sessions/Reviews.ts"
import * as Chart from "./Chart.ts"
import * as Statuses from "./Statuses.ts"

const path = "/console/accounts"
const pageSize = 50
/** Sessions that are shown before the list; a page of its own has more. */
const reviewsShown = 5

/** The filter of the list, by the query of its address. */
interface Filter {
  readonly status: AccountStatus | undefined
  readonly department: string
  readonly find: string
  readonly after: string
}

const read = (query: string): Filter => {
  const members = new URLSearchParams(query)
  const text = (name: string) => members.get(name) ?? ""
  const id = (name: string) => isUuid(text(name)) ? text(name) : ""
  const status = text("status")
  return {
    status: Statuses.isStatus(status) ? status : undefined,
    department: id("department"),
    // As the operation takes it: a needle of plain text.
    find: text("find").replaceAll(/\p{Cc}/gu, " ").toWellFormed().trim().slice(0, maxSearchLength),
    after: id("after")
  }
}

interface FoundAccounts {
  readonly data: ReadonlyArray<Account>
  readonly has_more: boolean
}

/** Search results go by the best match, anything else by name and page by page. */
const list = Effect.fnUntraced(function*({ after, department, find, status }: Filter) {
  if (find === "") {
    return yield* listProtectedAccounts.call({
      limit: pageSize,
      ...(status === undefined ? {} : { status }),
      ...(department === "" ? {} : { department_id: department }),
      ...(after === "" ? {} : { starting_after: after })
    })
  }
  const found = yield* findAccounts.call({ query: find, limit: maxSearchLimit })
  return {
    ...found,
    data: found.data.filter((account) =>
      (status === undefined || account.status === status) && (department === "" || account.department_id === department)
    )
  }
})

const to = (view: AdminPage, filter: Partial<Filter>): string =>
  Lists.address(`${view.visit.base}${path}`, { ...filter })

/** The number of accounts in each status, each with a link to them. */
const tiles = (view: AdminPage, { accounts }: StatusOverview["protection"], filter: Filter): Html.Html => {
  const total = Object.values(accounts).reduce((sum, count) => sum + count, 0)
  const tile = (status: AccountStatus | undefined, count: number) =>
    html`<li><a href="${to(view, { status })}#list" class="is-${
      status === undefined ? "note" : Statuses.words[status].tone
    }"${status === filter.status && filter.find === "" ? html` aria-current="true"` : undefined}><strong>${
      count.toLocaleString("en")
    }</strong> ${status === undefined ? html`<span>All accounts</span>` : Statuses.badge(status)}</a></li>`
  return html`<ul class="tiles" aria-label="Accounts by status">
  ${tile(undefined, total)}
  ${
    Statuses.inOrder.map((status) => ({ status, count: accounts[status] ?? 0 }))
      .filter(({ count, status }) => count > 0 || status === filter.status)
      .map(({ count, status }) => tile(status, count))
  }
</ul>`
}

/** The most urgent notices, above everything else. */
const warnings = (
  base: string,
  { protection, service }: StatusOverview,
  sendsMail: boolean
): Html.Html | undefined => {
  const texts: ReadonlyArray<Html.Value> = [
    ...(service.message === null ? [] : [service.message]),
    ...(protection.unheard
      ? [
        html`Nobody would get a mail about a takeover: ${
          sendsMail ? "no recipient wants it" : "this console sends no mail"
        }. <a href="${base}${mailsPath}">Who gets mails</a>`
      ]
      : []),
    ...(protection.paused_with_pending === 0 ? [] : [
      protection.paused_with_pending === 1
        ? "One paused account has a session that nobody has approved."
        : `${protection.paused_with_pending} paused accounts have sessions that nobody has approved.`
    ])
  ]
  return texts.length === 0 ? undefined : html`
<div class="${service.state === "down" ? "problem" : "warning"}" role="status">
  <h2>${service.state === "down" ? "Protection is down" : "Look at this"}</h2>
  <ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>
</div>`
}

const search = (view: AdminPage, filter: Filter, departments: ReadonlyArray<Department>): Html.Html =>
  html`<form method="get" action="${view.visit.base}${path}#list" class="filters" role="search">
  <div>
    <label for="find">Find an account</label>
    <input type="search" id="find" name="find" value="${filter.find}" maxlength="${maxSearchLength}" autocomplete="off" spellcheck="false" placeholder="Name, username or number">
  </div>
  ${
    Fields.filter(
      "status",
      "Status",
      [["", "Any status"], ...Statuses.inOrder.map((status) => [status, Statuses.words[status].name] as const)],
      filter.status ?? ""
    )
  }
  ${
    departments.length === 0
      ? undefined
      : Fields.filter(
        "department",
        "Department",
        [["", "Any department"], ...departments.map(({ id, name }) => [id, name] as const)],
        filter.department
      )
  }
  <button>Show</button>
</form>`

const row = (view: AdminPage, names: ReadonlyMap<string, string>) => (account: Account): Html.Html => {
  const { department_id, id, name, phone_number, role_label, status } = account
  return html`<tr role="row">
  <th role="rowheader" scope="row"><a href="${view.visit.base}${path}/${id}">${Html.named(name)}</a>${
    role_label === null ? undefined : html` <span class="hint">${Html.named(role_label)}</span>`
  }</th>
  <td role="cell">${Statuses.badge(status)}</td>
  <td role="cell" class="number">${name === phone_number ? "" : PhoneNumber.shown(phone_number)}</td>
  <td role="cell">${department_id === null ? "" : Html.named(names.get(department_id) ?? "Another department")}</td>
</tr>`
}

const isNarrowed = ({ department, find, status }: Filter): boolean =>
  status !== undefined || department !== "" || find !== ""

const empty = (view: AdminPage, filter: Filter): Html.Html =>
  html`<div class="empty">${
    isNarrowed(filter)
      ? html`<p>No account fits. <a href="${to(view, {})}#list">Show all accounts</a></p>`
      : protectors.includes(view.admin.role)
      ? html`<p>There is no account that you can access. <a href="${view.visit.base}${AccountConnect.path}">Connect one</a>, or have the owner or a superadmin grant you some.</p>`
      : html`<p>There is no account that you can access. An owner or superadmin connects accounts, and grants them to admins.</p>`
  }</div>`

const table = (
  view: AdminPage,
  filter: Filter,
  found: FoundAccounts,
  departments: ReadonlyArray<Department>
): Html.Html => {
  if (found.data.length === 0) return empty(view, filter)
  const names = new Map(departments.map(({ id, name }) => [id, name]))
  return html`<table role="table" class="listing" aria-labelledby="list">
  <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Account</th><th role="columnheader" scope="col">Status</th><th role="columnheader" scope="col">Number</th><th role="columnheader" scope="col">Department</th></tr></thead>
  <tbody role="rowgroup">${found.data.map(row(view, names))}</tbody>
</table>
${
    Lists.paging({
      label: "Pages of accounts",
      first: filter.after === "" ? undefined : `${to(view, { ...filter, after: "" })}#list`,
      next: found.has_more && filter.find === ""
        ? `${to(view, { ...filter, after: found.data.at(-1)?.id ?? "" })}#list`
        : undefined
    })
  }`
}

/** The listed accounts, in words. */
const listed = ({ find, status }: Filter, { data, has_more }: FoundAccounts): string | undefined =>
  find !== ""
    ? has_more
      ? `The best matches of “${find}”. Write more of the name to find fewer.`
      : `${data.length} ${data.length === 1 ? "account matches" : "accounts match"} “${find}”.`
    : status === undefined
    ? undefined
    : Statuses.words[status].meaning

/** The counts over time cover the whole organization, so that a role limited to some accounts sees none of them. */
const history = Effect.fnUntraced(function*({ admin, now }: AdminPage) {
  const db = yield* Db
  const overview = yield* Overview
  const since = new Date(now - Duration.toMillis(statusSamplesKept))
  const samples = yield* db.read(admin.organizationId, overview.history(admin.organizationId, since))
  return yield* Chart.section(samples, now)
})

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const filter = read(visit.query)
      const overview = yield* getStatus.call({})
      const { protection } = overview
      const found = yield* list(filter)
      const departments = yield* Lists.departments
      const reviews = yield* Reviews.section(view, protection.sessions_to_review, reviewsShown)
      const chart = canAccessEveryAccount(view.admin.role) ? yield* history(view) : undefined
      const unfinished = yield* OpenLogins.section(view)
      const showNotices = yield* Notices.make(view)
      const deleted = new URLSearchParams(visit.query).get("done") === "account_deleted"
      const sendsMail = (yield* Outbox).available
      return yield* Frame.page(view, {
        title: "Accounts",
        wide: true,
        script: Refresh.addressAt(visit.site),
        body: html`
<div class="head">
  <h1>Accounts</h1>
  ${
          protectors.includes(view.admin.role)
            ? html`<a class="button" href="${view.visit.base}${AccountConnect.path}">Connect an account</a>`
            : undefined
        }
</div>
${deleted ? html`<p class="good" role="status">The account and its archive are deleted.</p>` : undefined}
<p class="lead">How the messenger accounts that you can access are protected.</p>
${Refresh.control()}
${showNotices()}
${warnings(visit.base, overview, sendsMail)}
${tiles(view, protection, filter)}
${reviews}
${unfinished}
${chart}
<section aria-labelledby="list">
  <h2 id="list">${filter.status === undefined ? "All accounts" : Statuses.words[filter.status].name}</h2>
  <p class="lead">${listed(filter, found)}</p>
  ${search(view, filter, departments)}
  ${table(view, filter, found, departments)}
</section>`
      })
    }))

export const routes = [Serving.route("GET", path, get)] as const
