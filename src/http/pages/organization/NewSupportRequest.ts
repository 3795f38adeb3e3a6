/** Asking the support of the service. */
import { Effect, Option } from "effect"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxSupportMessageLength, maxSupportSubjectLength } from "../../../domain/Limits.ts"
import { SupportCategory } from "../../../domain/organization/Support.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { createSupportRequest } from "../../../operations/organization/create_support_request.ts"
import { type AdminPage, Fields, Form, Forms, Frame, Html, html, Lists, SentForm } from "../kit/index.ts"
import * as Tabs from "./OrganizationTabs.ts"
import * as Support from "./SupportPage.ts"

const path = Support.newPath

/** The contents of the form. */
interface Draft {
  readonly category: string
  readonly subject: string
  readonly message: string
  /** The id of the account that it is about; empty for none. */
  readonly account: string
  readonly request: string
}

const draftOf = (form: SentForm.Form): Draft => ({
  category: form.text("category"),
  subject: form.text("subject").trim(),
  message: form.lines("message"),
  account: form.text("account"),
  request: form.text("related_request_id").trim()
})

/** A new request, about the account that the link named. */
const emptyDraft = (query: string): Draft => {
  const account = new URLSearchParams(query).get("account") ?? ""
  return { category: "protection", subject: "", message: "", account: isUuid(account) ? account : "", request: "" }
}

/** The field that the page asks to confirm which account it is about, where a link named one. */
const accountField = Effect.fnUntraced(function*(id: string) {
  const found = isUuid(id) ? yield* Effect.option(getAccount.call({ account_id: id })) : Option.none()
  return Option.map(found, ({ name }) =>
    Fields.choice({
      type: "checkbox",
      id: "account_id",
      name: "account",
      value: id,
      label: html`It is about the account ${Html.named(name)}`,
      checked: true
    })).pipe(Option.getOrUndefined)
})

const fields = (faults: Html.Faults, draft: Draft, account: Html.Html | undefined): Html.Html => {
  const categories = SupportCategory.literals.map((each) => [each, Support.categories[each]] as const)
  const subject = { required: true, maxlength: maxSupportSubjectLength, value: draft.subject, autocomplete: "off" }
  const message = { required: true, rows: 8, maxlength: maxSupportMessageLength }
  const id = {
    name: "related_request_id",
    label: "Request id",
    hint: "May be left out: the id that a page with a problem, or an answer of the API, shows."
  }
  return html`${Fields.select(faults, { name: "category", label: "About" }, categories, draft.category)}
  ${Fields.input(faults, { name: "subject", label: "Subject" }, subject)}
  ${Fields.textarea(faults, { name: "message", label: "Message" }, draft.message, message)}
  ${account}
  ${Fields.input(faults, id, { maxlength: 64, value: draft.request, ...Fields.verbatim })}`
}

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base, query } = view.visit
  const draft = outcome.sent === undefined ? emptyDraft(query) : draftOf(outcome.sent)
  const account = yield* accountField(draft.account)
  return yield* Frame.page(view, {
    title: "Ask the support",
    outcome,
    body: html`
<p class="back"><a href="${base}${Tabs.supportPath}">Support</a></p>
<h1>Ask the support</h1>
<p class="lead">The operator of this console reads and answers it. Never write a password, a code or a key.</p>
${Form.notice(outcome)}
${
      Forms.open(
        view,
        { path, class: "card" },
        html`${fields(outcome.faults, draft, account)}
  <div class="actions">
    <button class="main">Send</button>
    <a class="button" href="${base}${Tabs.supportPath}">Cancel</a>
  </div>`
      )
    }`
  })
})

const page = Form.page({
  path,
  show,
  returnTo: ({ query }) => Lists.address(path, { account: emptyDraft(query).account }),
  refusals: {
    subject: `Give a subject on one line, of at most ${maxSupportSubjectLength} characters.`,
    message: `Write what you ask, in at most ${maxSupportMessageLength} characters.`,
    related_request_id: "Give the id as the answer or the page shows it, on one line."
  }
})

export const routes = page.routes([
  page.form({
    name: "",
    submit: ({ form }) => {
      const { account, category, message, request, subject } = draftOf(form)
      return createSupportRequest.call({
        category: SupportCategory.literals.find((each) => each === category) ?? "other",
        subject,
        message,
        ...(account === "" ? {} : { account_id: account }),
        ...(request === "" ? {} : { related_request_id: request })
      })
    },
    next: ({ id }) => `${Support.pathOf(id)}?done=asked`,
    limits: SentForm.limits.message
  })
])
