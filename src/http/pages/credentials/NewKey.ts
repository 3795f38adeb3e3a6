/** Creating an API key: a page with the form, and the only page that ever shows the key. */
import { Duration, Effect, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { defaultApiKeyExpiry, maxApiKeyLabelLength } from "../../../domain/Limits.ts"
import { needsPassword, Scope } from "../../../domain/people/Access.ts"
import { createApiKey } from "../../../operations/credentials/create_api_key.ts"
import { listAiConnections } from "../../../operations/credentials/list_ai_connections.ts"
import { NewApiKeyId } from "../../../ports/credentials/IssuedCredentials.ts"
import { type AdminPage, FieldRefused, Fields, Form, Forms, Frame, Html, html, type SentForm } from "../kit/index.ts"
import * as SignInSteps from "../signin/SignInSteps.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Scopes from "./ScopeBoxes.ts"

const developer = "/console/developer"
export const path = `${developer}/api-keys/new` as const
const createPath = `${developer}/api-keys` as const

const isMade = (id: string) =>
  Effect.map(listAiConnections.call({}), ({ api_keys }) => api_keys.some((key) => key.id === id))

const defaultDays = String(Duration.toDays(defaultApiKeyExpiry))

const expiries = [
  ["7", "7 days"],
  ["30", "30 days"],
  [defaultDays, `${defaultDays} days`],
  ["365", "1 year"],
  ["never", "Never"]
] as const

/** The content of the form for a new key. */
interface Draft {
  readonly label: string
  readonly scopes: ReadonlyArray<string>
  readonly expiry: string
}

const emptyDraft: Draft = { label: "", scopes: ["org:read"], expiry: defaultDays }

const draftOf = (form: SentForm.Form): Draft => ({
  label: form.text("label"),
  scopes: form.all("scope"),
  expiry: form.text("expiry")
})

const label = {
  name: "label",
  label: "Label",
  hint: `What the key is for, such as “Nightly report”. At most ${maxApiKeyLabelLength} characters.`
}

const fields = (faults: Html.Faults, draft: Draft, email: string): Html.Html => {
  const more = { required: true, maxlength: maxApiKeyLabelLength, value: draft.label, autocomplete: "off" }
  return html`<section aria-label="The key">
    ${Fields.input(faults, label, more)}
    ${Fields.select(faults, { name: "expiry", label: "Expires" }, expiries, draft.expiry)}
  </section>
  <section aria-label="Permissions">
    <fieldset id="scopes">
      <legend>What it may do</legend>
      ${Html.fault(faults, "scopes")}
      ${Scopes.boxes(Scope.literals, draft.scopes, { limited: false })}
    </fieldset>
    ${Scopes.passwordField(faults, email)}`
}

/** The form's token is bound to the id of the one key that it makes, however often it is sent. */
const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base } = view.visit
  const { faults, sent } = outcome
  const id = yield* (yield* SecureRandom.SecureRandom).uuidV7()
  const draft = sent === undefined ? emptyDraft : draftOf(sent)
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults, Scopes.whenNeeded)
  return yield* Frame.page(view, {
    title: "Create an API key",
    outcome,
    script: stepUp.script,
    body: html`
<p class="back"><a href="${base}${developer}">Developer</a></p>
<h1>Create an API key</h1>
<p class="lead">A key lets a program act as you, within your role and the access that you have at the time.</p>
${Form.notice(outcome)}
${
      Forms.open(
        view,
        { path: createPath, about: ["id", id] },
        html`${fields(faults, draft, view.admin.email)}
    ${stepUp.field}
  </section>
  <div class="actions">
    <button class="main">Create key</button>
    <a class="button" href="${base}${developer}">Cancel</a>
  </div>`
      )
    }`
  })
})

/** The page of a new key: the only page that shows it. */
const created = (view: AdminPage, label: string, secret: Redacted.Redacted, expiresAt: Date | null) =>
  Frame.page(view, {
    title: "Key created",
    body: html`
<h1>Key created</h1>
<p class="good" role="status">Copy the key now and keep it where you keep passwords. It is shown this once and cannot be shown again.</p>
<section aria-labelledby="of">
  <h2 id="of">${Html.named(label)}</h2>
  <p class="hint">${expiresAt === null ? "It never expires." : html`It expires on ${Html.dayOf(expiresAt)}.`}</p>
  <p class="hint" id="secret-hint">One click or tap selects the whole key.</p>
  ${Html.secretOnce(secret, "key")}
</section>
<p><a class="button main" href="${view.visit.base}${developer}">I have copied it</a></p>`
  })

const isScope = (text: string): text is Scope => Scope.literals.some((scope) => scope === text)

const used = new FieldRefused({
  field: "label",
  message:
    "This form has made a key already, and the key was shown then. If you have not seen it, revoke it on the Developer page before you create another.",
  status: 409,
  code: "form_used"
})

/** Makes a key; a form that is sent again makes no second one. */
const create = Effect.fnUntraced(function*({ form, view }: Form.Sent) {
  const id = form.text("id")
  if (yield* isMade(id)) return yield* used
  const password = form.text("password")
  const { expiry, label, scopes: ticked } = draftOf(form)
  const scopes = ticked.filter(isScope)
  if (scopes.some(needsPassword)) yield* StepUp.check(view, form)
  const made = createApiKey.call({
    label,
    scopes,
    expires_in_days: expiry === "never" ? null : Number(expiry),
    ...(password === "" ? {} : { current_password: password })
  })
  return yield* made.pipe(
    Effect.provideService(NewApiKeyId, id),
    Effect.flatMap(({ expires_at, label, secret }) =>
      secret === null ? show(view, "", Form.none) : created(view, label, secret, expires_at)
    ),
    // Sent twice at the same time, or the session has just ended.
    Effect.catchTag(
      "invalid_api_key",
      () =>
        Effect.flatMap(
          isMade(id),
          (made) => made ? Effect.fail(used) : Effect.succeed(SignInSteps.toSignIn(view.visit, path))
        )
    )
  )
})

const page = Form.page({
  path,
  show,
  refusals: {
    label: "Give the key a label of at most 60 characters.",
    scopes: "Tick at least one thing that the key may do.",
    expires_in_days: ["expiry", "Choose when the key expires."],
    current_password: ["password"],
    password_required: ["password", "Enter your console password: what you have ticked needs it."],
    password_incorrect: ["password"],
    too_many_attempts: ["password"],
    [StepUp.refusedCode]: [StepUp.fieldId]
  },
  strict: true
})

export const routes = page.routes([
  page.form({ name: "", path: createPath, about: "id", submit: create, next: (answer) => answer })
])
