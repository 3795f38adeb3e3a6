/** Asking the support of the service. */
import { Effect, Option } from "effect"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxSupportMessageLength, maxSupportSubjectLength } from "../../../domain/Limits.ts"
import { SupportCategory } from "../../../domain/organization/Support.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { createSupportRequest } from "../../../operations/organization/create_support_request.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import * as Refused from "../kit/RefusedForms.ts"
import * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as Tabs from "./OrganizationTabs.ts"
import * as Support from "./SupportPage.ts"

const path = Support.newPath

/** The text that the form's token is bound to. */
const token = "ask the support"

/** The contents of the form. */
interface Draft {
  readonly category: string
  readonly subject: string
  readonly message: string
  /** The id of the account that it is about; empty for none. */
  readonly account: string
  readonly request: string
}

const inputs = {
  subject: `Give a subject on one line, of at most ${maxSupportSubjectLength} characters.`,
  message: `Write what you ask, in at most ${maxSupportMessageLength} characters.`,
  related_request_id: "Give the id as the answer or the page shows it, on one line."
}

/** The field that the page asks to confirm which account it is about, where a link named one. */
const accountField = Effect.fnUntraced(function*(id: string) {
  const found = isUuid(id) ? yield* Effect.option(getAccount.call({ account_id: id })) : Option.none()
  return Option.map(found, ({ name }) =>
    html`<div class="choice">
      <input type="checkbox" id="account_id" name="account" value="${id}" checked>
      <label for="account_id"><span class="name">It is about the account ${Html.named(name)}</span></label>
    </div>`).pipe(Option.getOrUndefined)
})

const show = Effect.fnUntraced(function*(view: Visit.View, draft: Draft, refused?: Refused.RefusedForm) {
  const { base } = view.visit
  const faults = Refused.faultsOf(refused, inputs)
  const account = yield* accountField(draft.account)
  return yield* Frame.page(view, {
    title: refused === undefined ? "Ask the support" : "Problem: ask the support",
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<p class="back"><a href="${base}${Tabs.supportPath}">Support</a></p>
<h1>Ask the support</h1>
<p class="lead">The operator of this console reads and answers it. Never write a password, a code or a key.</p>
${faults.size > 0 ? Html.summary(faults) : Refused.box(refused?.problem)}
<form method="post" action="${base}${path}" class="card">
  ${Forms.hidden(view, token)}
  <div class="field">
    <label for="category">About</label>
    <select id="category" name="category">${
      SupportCategory.literals.map((each) => Lists.option(each, Support.categories[each], draft.category))
    }</select>
  </div>
  <div class="field">
    <label for="subject">Subject</label>
    ${Html.fault(faults, "subject")}
    <input type="text" id="subject" name="subject" required maxlength="${maxSupportSubjectLength}" value="${draft.subject}" autocomplete="off"${
      Html.described(faults, "subject", false)
    }>
  </div>
  <div class="field">
    <label for="message">Message</label>
    ${Html.fault(faults, "message")}
    <textarea id="message" name="message" required rows="8" maxlength="${maxSupportMessageLength}"${
      Html.described(faults, "message", false)
    }>
${draft.message}</textarea>
  </div>
  ${account}
  <div class="field">
    <label for="related_request_id">Request id</label>
    <p class="hint" id="related_request_id-hint">May be left out: the id that a page with a problem, or an answer of the API, shows.</p>
    ${Html.fault(faults, "related_request_id")}
    <input type="text" id="related_request_id" name="related_request_id" maxlength="64" value="${draft.request}" autocomplete="off" spellcheck="false"${
      Html.described(faults, "related_request_id", true)
    }>
  </div>
  <div class="actions">
    <button class="main">Send</button>
    <a class="button" href="${base}${Tabs.supportPath}">Cancel</a>
  </div>
</form>`
  })
})

const get = (visit: Visit.Visit) => {
  const account = new URLSearchParams(visit.query).get("account") ?? ""
  return Visit.asAdmin(
    visit,
    Lists.address(path, { account: isUuid(account) ? account : "" }),
    (view) => show(view, { category: "protection", subject: "", message: "", account, request: "" })
  )
}

const post = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, () => token, (form, view) => {
    const draft: Draft = {
      category: form.text("category"),
      subject: form.text("subject").trim(),
      message: form.lines("message"),
      account: form.text("account"),
      request: form.text("related_request_id").trim()
    }
    const { account, category, message, request, subject } = draft
    return createSupportRequest.call({
      category: SupportCategory.literals.find((each) => each === category) ?? "other",
      subject,
      message,
      ...(account === "" ? {} : { account_id: account }),
      ...(request === "" ? {} : { related_request_id: request })
    }).pipe(
      Effect.map(({ id }) => Html.redirect(`${visit.base}${Support.pathOf(id)}?done=asked`)),
      Refused.orShow((refused) => show(view, draft, refused))
    )
  }, SentForm.limits.message)

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
