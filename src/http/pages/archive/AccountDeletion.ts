/** Deleting an account that is offboarded, with its archive. */
import { Effect } from "effect"
import { confirmPhrase } from "../../../domain/archive/ConfirmPhrase.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { deleteAccountWithArchive } from "../../../operations/archive/delete_account_with_archive.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as StepUp from "../signin/StepUp.ts"
import { phraseField, phraseRefusals } from "./PhraseField.ts"

const path = "/console/accounts/:account_id/delete"
const accountPath = (id: string) => `/console/accounts/${id}`

/** The way to the page, on that of an account that is offboarded. */
export const section = (view: AdminPage, id: string): Html.Html =>
  html`<section aria-labelledby="deletion">
  <h2 id="deletion">Deletion</h2>
  <p>The account is offboarded; what was archived of it stays. The next page says what deleting both means.</p>
  <p><a class="button danger" href="${view.visit.base}${accountPath(id)}/delete">Delete with its archive …</a></p>
</section>`

const consequences = (messages: number): ReadonlyArray<string> => [
  `What is archived of it (${
    messages.toLocaleString("en")
  } messages) can be read by nobody from this moment on, whatever they know, and is deleted soon after. Backups keep it until they age out.`,
  "The account leaves the console and the API, with its grants. Its events stay in the journal.",
  "Its person can be connected again, as another account, with an empty archive.",
  "Nobody can undo it."
]

const form = (view: AdminPage, id: string, phrase: string, faults: Html.Faults, stepUp: StepUp.Part): Html.Html =>
  Forms.open(
    view,
    { path: Forms.addressOf(path, id), class: "card" },
    html`${phraseField(faults, phrase)}
  ${stepUp.field}
  <div class="actions">
    <button class="danger">Delete the account and its archive</button>
    <a class="button" href="${view.visit.base}${accountPath(id)}">Cancel</a>
  </div>`
  )

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const { archive, name, phone_number, status } = yield* getAccount.call({ account_id: id })
  const isOffboarded = status === "available"
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  const phrase = confirmPhrase({ kind: "account", phoneNumber: phone_number })
  return yield* Frame.page(view, {
    title: `Delete ${name}`,
    outcome,
    script: isOffboarded ? stepUp.script : undefined,
    body: html`
<p class="back"><a href="${view.visit.base}${accountPath(id)}">The account</a></p>
<h1>Delete ${Html.named(name)}</h1>
${Form.notice(outcome)}
${
      isOffboarded
        ? html`<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences(archive.messages).map((text) => html`<li>${text}</li>`)}</ul>
</section>
${form(view, id, phrase, outcome.faults, stepUp)}`
        : html`<p class="empty">The account is protected. Offboard it first.</p>`
    }`
  })
})

const page = Form.page({
  path,
  show,
  only: [superadmins, "The owner and superadmins delete accounts."],
  refusals: phraseRefusals
})

export const routes = page.routes([
  page.form({
    name: "",
    factor: "field",
    submit: ({ form, id }) =>
      deleteAccountWithArchive.call({ account_id: id, confirm_phrase: form.text("confirm_phrase") }),
    next: ({ action }) => `/console/accounts?done=${action}`
  })
])
