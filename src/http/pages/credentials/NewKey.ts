/** Creating an API key: a page with the form, and the only page that ever shows the key. */
import { Duration, Effect, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { defaultApiKeyExpiry, maxApiKeyLabelLength } from "../../../domain/Limits.ts"
import { needsPassword, Scope } from "../../../domain/people/Access.ts"
import { createApiKey } from "../../../operations/credentials/create_api_key.ts"
import { listAiConnections } from "../../../operations/credentials/list_ai_connections.ts"
import { NewApiKeyId } from "../../../ports/credentials/IssuedCredentials.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Visit from "../kit/Visit.ts"
import * as SignInSteps from "../signin/SignInSteps.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Scopes from "./ScopeBoxes.ts"

const developer = "/console/developer"
export const path = `${developer}/api-keys/new`
const createPath = `${developer}/api-keys`

/** The text that the form's token is bound to: the id of the one key that it creates, however often it is sent. */
const createForm = (id: string): string => `create ${id}`

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

interface Shown {
  readonly draft?: Draft
  readonly faults?: Html.Faults
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const show = Effect.fnUntraced(function*(view: Visit.View, shown: Shown = {}) {
  const { admin, visit } = view
  const id = yield* (yield* SecureRandom.SecureRandom).uuidV7()
  const draft = shown.draft ?? emptyDraft
  const faults = shown.faults ?? Html.noFaults
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults, Scopes.whenNeeded)
  return yield* Frame.page(view, {
    title: "Create an API key",
    faults,
    status: shown.status,
    headers: shown.headers,
    script: stepUp.script,
    body: html`
<p class="back"><a href="${visit.base}${developer}">Developer</a></p>
<h1>Create an API key</h1>
<p class="lead">A key lets a program act as you, within your role and the access that you have at the time.</p>
${Html.summary(faults)}
<form method="post" action="${visit.base}${createPath}">
  ${Forms.hidden(view, createForm(id), { id })}
  <section aria-label="The key">
    <div class="field">
      <label for="label">Label</label>
      <p class="hint" id="label-hint">What the key is for, such as “Nightly report”. At most ${maxApiKeyLabelLength} characters.</p>
      ${Html.fault(faults, "label")}
      <input type="text" id="label" name="label" required maxlength="${maxApiKeyLabelLength}" value="${draft.label}" autocomplete="off"${
      Html.described(faults, "label", true)
    }>
    </div>
    <div class="field">
      <label for="expiry">Expires</label>
      ${Html.fault(faults, "expiry")}
      <select id="expiry" name="expiry"${Html.described(faults, "expiry", false)}>${
      expiries.map(([value, text]) =>
        html`<option value="${value}"${value === draft.expiry ? " selected" : ""}>${text}</option>`
      )
    }</select>
    </div>
  </section>
  <section aria-label="Permissions">
    <fieldset id="scopes">
      <legend>What it may do</legend>
      ${Html.fault(faults, "scopes")}
      ${Scopes.boxes(Scope.literals, draft.scopes, { limited: false })}
    </fieldset>
    ${Scopes.passwordField(faults, admin.email)}
    ${stepUp.field}
  </section>
  <div class="actions">
    <button class="main">Create key</button>
    <a class="button" href="${visit.base}${developer}">Cancel</a>
  </div>
</form>`
  })
})

const get = (visit: Visit.Visit) => Visit.asAdmin(visit, path, (view) => show(view))

/** The page of a new key: the only page that shows it. */
const created = (view: Visit.View, label: string, secret: Redacted.Redacted, expiresAt: Date | null) =>
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

const fields: ReadonlyMap<string | undefined, readonly [id: string, text: string]> = new Map([
  ["label", ["label", "Give the key a label of at most 60 characters."]],
  ["scopes", ["scopes", "Tick at least one thing that the key may do."]],
  ["expires_in_days", ["expiry", "Choose when the key expires."]]
])

const isScope = (text: string): text is Scope => Scope.literals.some((scope) => scope === text)

/** Makes a key; a form that is sent again makes no second one. */
const create = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, (form) => createForm(form.text("id")), (form, view) =>
    Effect.gen(function*() {
      const id = form.text("id")
      const draft = { label: form.text("label"), scopes: form.all("scope"), expiry: form.text("expiry") }
      const again = (status: number, field: string, text: string, headers = {}) =>
        show(view, { draft, faults: new Map([[field, text]]), status, headers })
      const used = again(
        409,
        "label",
        "This form has made a key already, and the key was shown then. If you have not seen it, revoke it on the Developer page before you create another."
      )
      if (yield* isMade(id)) return yield* used
      const password = form.text("password")
      const scopes = draft.scopes.filter(isScope)
      const asked = scopes.some(needsPassword) ? StepUp.check(view, form) : Effect.void
      const made = createApiKey.call({
        label: draft.label,
        scopes,
        expires_in_days: draft.expiry === "never" ? null : Number(draft.expiry),
        ...(password === "" ? {} : { current_password: password })
      })
      return yield* Effect.andThen(asked, made).pipe(
        Effect.provideService(NewApiKeyId, id),
        Visit.showRefusal,
        Effect.flatMap(({ expires_at, label, secret }) =>
          secret === null ? show(view) : created(view, label, secret, expires_at)
        ),
        Effect.catchTag("parameter_invalid", ({ message, param }) => {
          const [field, text] = fields.get(param) ?? ["password", message]
          return again(400, field, text)
        }),
        // Sent twice at the same time, or the session has just ended.
        Effect.catchTag(
          "invalid_api_key",
          () => Effect.flatMap(isMade(id), (made) => made ? used : Effect.succeed(SignInSteps.toSignIn(visit, path)))
        ),
        Effect.catchTag(
          "password_required",
          () => again(403, "password", "Enter your console password: what you have ticked needs it.")
        ),
        StepUp.again(again)
      )
    }))

export const routes = [Visit.route("GET", path, get), Visit.route("POST", createPath, create)] as const
