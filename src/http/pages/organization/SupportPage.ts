/** Requests to the support: the list, and one with its answer. */
import { Effect } from "effect"
import { isUuid } from "../../../domain/JsonShapes.ts"
import type { SupportRequest } from "../../../domain/organization/Support.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getSupportRequest } from "../../../operations/organization/get_support_request.ts"
import { listSupportRequests } from "../../../operations/organization/list_support_requests.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type AdminPage, Form, Frame, Html, html, Lists, type PageRequest, Serving, Times } from "../kit/index.ts"
import * as Tabs from "./OrganizationTabs.ts"

const path = Tabs.supportPath
export const newPath = `${path}/new`
export const pathOf = (id: string): `/${string}` => `${path}/${id}`

export const categories: Readonly<Record<SupportRequest["category"], string>> = {
  protection: "Protection of accounts",
  archive: "The archive",
  billing: "Licences and bills",
  api: "API and assistants",
  other: "Something else"
}

const states = {
  open: ["note", "Open"],
  answered: ["good", "Answered"],
  closed: ["off", "Closed"]
} as const

const state = (request: SupportRequest): Html.Html => {
  const [tone, text] = states[request.state]
  return Statuses.mark(tone, text)
}

const row = (view: AdminPage) => (request: SupportRequest): Html.Html =>
  html`<tr>
  <th scope="row"><a href="${view.visit.base}${pathOf(request.id)}">${request.number}: ${
    Html.named(request.subject)
  }</a></th>
  <td data-label="About">${categories[request.category]}</td>
  <td data-label="Asked">${Times.ago(request.created_at, view.now)}</td>
  <td data-label="State">${state(request)}</td>
</tr>`

const list = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const { base } = visit
      const after = new URLSearchParams(visit.query).get("after") ?? ""
      const { data, has_more } = yield* listSupportRequests.call({
        limit: 50,
        ...(isUuid(after) ? { starting_after: after } : {})
      })
      return yield* Frame.page(view, {
        title: "Support",
        wide: true,
        body: html`
<div class="head"><h1>Support</h1> <a class="button main" href="${base}${newPath}">Ask the support</a></div>
${Tabs.nav(base, path)}
<p class="lead">${
          superadmins.includes(view.admin.role)
            ? "What the organization’s admins have asked the support of this console."
            : "What you have asked the support of this console."
        }</p>
${
          data.length === 0 ? html`<p class="empty">Nothing has been asked yet.</p>` : html`<table>
  <caption class="unseen">Requests, newest first</caption>
  <thead><tr><th scope="col">Request</th><th scope="col">About</th><th scope="col">Asked</th><th scope="col">State</th></tr></thead>
  <tbody>${data.map(row(view))}</tbody>
</table>`
        }
${Lists.pagingAfter(`${base}${path}`, "Pages of requests", isUuid(after) ? after : undefined, { data, has_more })}`
      })
    }))

/** The account that a request is about, by its name where the admin can access it. */
const account = (view: AdminPage, id: string) =>
  Effect.match(getAccount.call({ account_id: id }), {
    onFailure: () => html`An account that you cannot access`,
    onSuccess: ({ name }) => html`<a href="${view.visit.base}/console/accounts/${id}">${Html.named(name)}</a>`
  })

const facts = Effect.fnUntraced(function*(view: AdminPage, request: SupportRequest) {
  const about = request.account_id === null ? undefined : yield* account(view, request.account_id)
  return html`<dl class="facts">
    <dt>State</dt><dd>${state(request)}</dd>
    <dt>About</dt><dd>${categories[request.category]}</dd>
    ${about === undefined ? undefined : html`<dt>Account</dt><dd>${about}</dd>`}
    ${
    request.related_request_id === null
      ? undefined
      : html`<dt>Request id</dt><dd><code>${request.related_request_id}</code></dd>`
  }
    <dt>Asked</dt><dd>${Times.ago(request.created_at, view.now)} by ${
    request.created_by === view.admin.adminId ? "you" : "another admin"
  }</dd>
  </dl>`
})

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const request = yield* getSupportRequest.call({ request_id: id })
  return yield* Frame.page(view, {
    title: request.subject,
    body: html`
<p class="back"><a href="${view.visit.base}${path}">Support</a></p>
<h1>${request.number}: ${Html.named(request.subject)}</h1>
${Form.notice(outcome)}
<section aria-label="The request">
  ${yield* facts(view, request)}
  <p class="written" dir="auto">${request.message}</p>
</section>
<section aria-labelledby="answer">
  <h2 id="answer">Answer</h2>
  ${
      request.answered_at === null
        ? undefined
        : html`<p class="hint">${Times.ago(request.answered_at, view.now)}</p>`
    }
  ${
      request.answer === null
        ? html`<p class="empty">There is no answer yet.</p>`
        : html`<p class="written" dir="auto">${request.answer}</p>`
    }
</section>`
  })
})

const page = Form.page({
  path: `${path}/:request_id`,
  show,
  done: { asked: "The request is made. The answer will be on this page." }
})

export const routes = [Serving.route("GET", path, list), ...page.routes([])] as const
