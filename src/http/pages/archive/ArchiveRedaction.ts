/** Redaction: what single messages say is taken out of the archive. It asks for the archive password and a phrase. */
import { Effect } from "effect"
import { AccountId } from "../../../domain/accounts/Account.ts"
import { ConfirmPhraseInvalid, ParameterInvalid } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { Caller, superadmins } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { redactMessages } from "../../../operations/archive/redact_messages.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as StepUp from "../signin/StepUp.ts"
import { phraseField, phraseRefusals } from "./PhraseField.ts"

const path = "/console/archive-redactions"

/** The operation takes none: it is for the person at the form, who may have come by a link. */
const phrase = "redact messages"

const collapsed = (text: string): string => text.trim().replace(/\s+/gu, " ").toLowerCase()

const consequences = [
  "Nobody can undo it: text, edits, files and the words that a search finds are gone.",
  "The messages stay with their senders and times, marked as redacted, and are not archived again.",
  "The journal keeps their ids, who redacted them, and the reason.",
  "Backups, and exports that were downloaded, still have what they said."
]

/** The address of the form for an account, which its page links to. */
export const addressFor = (accountId: string): string => Lists.address(path, { account: accountId })

const fields = (
  { faults, sent }: Form.Outcome,
  query: URLSearchParams,
  stepUp: StepUp.Part
): Html.Html =>
  html`${
    Fields.input(
      faults,
      { name: "chat_id", label: "Chat", hint: "Its id." },
      { required: true, value: sent?.text("chat_id") ?? query.get("chat") ?? "", ...Fields.verbatim }
    )
  }
    ${
    Fields.input(
      faults,
      {
        name: "message_ids",
        label: "Messages",
        hint: "Their ids, which the viewer shows at the time of each; spaces between them, at most 100."
      },
      {
        required: true,
        maxlength: 2500,
        value: sent?.text("message_ids") ?? query.get("message") ?? "",
        ...Fields.verbatim
      }
    )
  }
    ${
    Fields.input(
      faults,
      { name: "reason", label: "Reason", hint: "The journal keeps it: do not repeat what is to be gone." },
      { required: true, maxlength: 200, value: sent?.text("reason") ?? "" }
    )
  }
    ${Fields.password(faults, { label: "Archive password", hint: "It is not kept.", autocomplete: "off" })}
    ${phraseField(faults, phrase)}
    ${stepUp.field}
    <div class="actions"><button class="danger">Redact</button></div>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base, query: text } = view.visit
  const query = new URLSearchParams(text)
  const accountId = outcome.sent?.text("account_id") ?? query.get("account") ?? ""
  const account = isUuid(accountId) ? yield* getAccount.call({ account_id: accountId }) : null
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  return yield* Frame.page(view, {
    title: "Redact messages",
    outcome,
    script: account === null ? undefined : stepUp.script,
    body: html`
<h1>Redact messages</h1>
${Form.notice(outcome)}
<p class="lead">What single messages say is taken out of the archive for good, such as a card number or a person's data.</p>
${
      account === null
        ? html`<p class="hint">It begins on the page of an account.</p>`
        : html`<p>In the archive of <a href="${base}/console/accounts/${account.id}">${
          Html.named(account.name)
        }</a>.</p>
<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences.map((each) => html`<li>${each}</li>`)}</ul>
</section>
${
          Forms.open(
            view,
            { path, about: ["account_id", account.id], class: "card" },
            fields(outcome, query, stepUp)
          )
        }`
    }`
  })
})

const page = Form.page({
  path,
  show,
  only: [superadmins, "The owner and superadmins redact archived messages."],
  refusals: {
    ...phraseRefusals,
    archive_password_required: ["password", "Enter the archive password."],
    archive_password_invalid: ["password", "This is not the archive password."],
    too_many_attempts: ["password", "Too many wrong passwords: try again later."],
    archive_held: "A hold keeps these messages: nothing was redacted.",
    archive_closed: "The organization's archive is closed.",
    no_archive_key: "The organization has no archive password.",
    content_unreadable: "Some of these messages do not open: nothing was redacted.",
    chat_id: ["chat_id", "There is no such chat in the archive of this account."],
    message_ids: ["message_ids", "Give the ids of archived messages of this chat, at most 100."],
    reason: ["reason", "Give a reason of at most 200 characters."]
  }
})

const redact = Effect.fnUntraced(function*(form: SentForm.Form) {
  const accountId = form.text("account_id")
  if (!isUuid(accountId)) return yield* new ParameterInvalid({ param: "account_id" })
  if (collapsed(form.text("confirm_phrase")) !== phrase) {
    return yield* new ConfirmPhraseInvalid({ param: "confirm_phrase" })
  }
  const caller = yield* Caller
  const opening = Caller.of({ ...caller, extras: { archivePassword: form.secret("password") } })
  return yield* redactMessages.call({
    account_id: AccountId.make(accountId),
    chat_id: form.text("chat_id").trim(),
    message_ids: form.text("message_ids").split(/[\s,]+/u).filter((id) => id !== ""),
    reason: form.text("reason")
  }).pipe(Effect.provideService(Caller, opening))
})

export const routes = page.routes([
  page.form({
    name: "",
    about: "account_id",
    factor: "field",
    submit: ({ form }) => redact(form),
    next: (_, { form }) => `${path}?account=${form.text("account_id")}&done=redacted`,
    done: { redacted: "The messages are redacted." }
  })
])
