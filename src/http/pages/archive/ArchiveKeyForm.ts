/** The forms that set or change the archive password; each asks for the console password and the second factor again. */
import { Effect, type Redacted, Result } from "effect"
import { changeArchivePassword, setArchiveKey } from "../../../archive/KeyChanges.ts"
import { journalWrongPassword } from "../../../archive/WrongPasswords.ts"
import type { WrapKind } from "../../../domain/archive/Epoch.ts"
import { OwnerRequired } from "../../../domain/Failure.ts"
import * as Actor from "../../../domain/journal/Actor.ts"
import { minPasswordLength } from "../../../domain/Limits.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { ArchiveAttempts } from "../../../ports/archive/ArchiveAttempts.ts"
import { type ArchiveKey, ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../../ports/Db.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage, PageRequest } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Serving from "../kit/Serving.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as StepUp from "../signin/StepUp.ts"

export const path = Tabs.archiveKeyPath

/** A field of the form for the secret that opens the key as it is. */
interface Secret {
  readonly kind: WrapKind
  readonly label: string
  readonly wrong: string
}

/** One way to set the password, on a page of its own. */
export interface KeyForm {
  readonly name: "set" | "change" | "recover" | "replace"
  readonly title: string
  readonly lead: string
  readonly button: string
  readonly secret?: Secret
  /** It gives up what was archived: the button is red, and a box has to be ticked. */
  readonly loses?: boolean
}

export const pathOf = ({ name }: Pick<KeyForm, "name">) => `${path}/${name}` as const

/** The key as it is, for the owner; others are refused. */
const owned = Effect.gen(function*() {
  const caller = yield* Caller
  if (caller.role !== "owner") return yield* new OwnerRequired({})
  const keys = yield* ArchiveKeys
  return yield* (yield* Db).read(caller.organizationId, keys.current(caller.organizationId))
})

/** True if there is something for the form to do. */
const applies = ({ name }: KeyForm, key: ArchiveKey | null): boolean => (key === null) === (name === "set")

interface Field {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly autocomplete: string
  /** It is readable as it is typed: a printed code is copied by eye. */
  readonly readable?: boolean
}

const field = (faults: Html.Faults, { autocomplete, hint, id, label, readable }: Field): Html.Html =>
  html`
  <div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${Html.fault(faults, id)}
    <input type="${
    readable === true ? "text" : "password"
  }" id="${id}" name="${id}" required autocomplete="${autocomplete}" spellcheck="false"${
    Html.described(faults, id, hint !== undefined)
  }>
  </div>`

const secretField = (faults: Html.Faults, { kind, label }: Secret): Html.Html =>
  field(faults, {
    id: "secret",
    label,
    autocomplete: "off",
    ...(kind === "recovery"
      ? { readable: true, hint: "As it was printed; spaces, hyphens and the case of letters do not matter." }
      : {})
  })

const lossBox = (faults: Html.Faults): Html.Html =>
  html`
  <div class="choice">
    ${Html.fault(faults, "lost")}
    <input type="checkbox" id="lost" name="lost" value="yes" required${Html.described(faults, "lost", false)}>
    <label for="lost"><span class="name">Give up what is archived until now</span> <span class="hint">Nobody can read it any more, neither you nor the service.</span></label>
  </div>`

const tokenOf = (form: KeyForm): string => `archive key ${form.name}`

const passwordHint =
  `At least ${minPasswordLength} characters, and not one that is used elsewhere. Whoever reads the archive enters it.`

/** The page of a form, with the messages of its refusal. */
const show = Effect.fnUntraced(function*(
  form: KeyForm,
  view: AdminPage,
  faults: Html.Faults = Html.noFaults,
  status?: number,
  headers?: Readonly<Record<string, string>>
) {
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  const { base } = view.visit
  return yield* Frame.page(view, {
    title: form.title,
    faults,
    status,
    headers,
    script: stepUp.script,
    body: html`
<p class="back"><a href="${base}${path}">Archive password</a></p>
<h1>${form.title}</h1>
<p class="lead">${form.lead}</p>
${Html.summary(faults)}
<form method="post" action="${base}${pathOf(form)}" class="card">
  ${Forms.hidden(view, tokenOf(form))}
  <input type="text" name="username" value="${view.admin.email}" autocomplete="username" hidden>
  ${field(faults, { id: "password", label: "Console password", autocomplete: "current-password" })}
  ${stepUp.field}
  ${form.secret === undefined ? undefined : secretField(faults, form.secret)}
  ${field(faults, { id: "new", label: "New archive password", hint: passwordHint, autocomplete: "new-password" })}
  ${field(faults, { id: "repeated", label: "New archive password again", autocomplete: "new-password" })}
  ${form.loses === true ? lossBox(faults) : undefined}
  <div class="actions"><button class="${form.loses === true ? "danger" : "main"}">${form.button}</button></div>
</form>`
  })
})

/** The code, on the only page that ever shows it. */
const showCode = (view: AdminPage, code: Redacted.Redacted) =>
  Frame.page(view, {
    title: "Recovery code",
    body: html`
<h1>Recovery code</h1>
<p class="good" role="status">The archive password is set.</p>
<p class="lead">Print this code, and keep it where you keep what the organization cannot lose. It opens the archive if the password is forgotten. It is shown this once, and one from before no longer works.</p>
<section aria-label="The code">
  ${Html.secretOnce(code, "code")}
</section>
<p><a class="button main" href="${view.visit.base}${path}">I have kept it</a></p>`
  })

const changer = Effect.map(Caller, (caller) => ({
  organizationId: caller.organizationId,
  actor: Actor.caller(caller),
  adminId: caller.adminId,
  origin: caller
}))

/** Opens the key by the archive password, which is counted as where the archive is read, or by its recovery code. */
const change = Effect.fnUntraced(function*(kind: WrapKind, key: ArchiveKey, form: SentForm.Form) {
  const attempts = yield* ArchiveAttempts
  const caller = yield* Caller
  if (kind === "password") yield* attempts.count(caller)
  const by = { kind, secret: form.secret("secret") }
  const result = yield* Effect.result(changeArchivePassword(yield* changer, key, by, form.secret("new")))
  if (Result.isFailure(result) && result.failure._tag === "WrongArchivePassword") yield* journalWrongPassword(caller)
  else if (kind === "password") yield* attempts.takeBack(caller)
  // A stored wrap that was changed opens for nobody.
  return yield* Effect.catchTag(Effect.fromResult(result), "ArchiveUnreadable", Effect.die)
})

/** The fields of a form that are wrong by themselves. */
const faultsOf = ({ loses }: KeyForm, form: SentForm.Form): Html.Faults =>
  new Map([
    ...(form.text("new") === form.text("repeated")
      ? []
      : [["repeated", "This is not the same as the new password."] as const]),
    ...(loses === true && form.text("lost") !== "yes"
      ? [["lost", "Tick this, or leave the key as it is."] as const]
      : [])
  ])

const perform = Effect.fnUntraced(function*({ secret }: KeyForm, key: ArchiveKey | null, form: SentForm.Form) {
  return secret === undefined || key === null
    ? yield* setArchiveKey(yield* changer, form.secret("new"), key)
    : yield* change(secret.kind, key, form)
})

const post = (keyForm: KeyForm) => (visit: PageRequest) =>
  Forms.submitted(visit, path, () => tokenOf(keyForm), (form, view) =>
    Effect.gen(function*() {
      const key = yield* owned
      const again = (status: number, id: string, text: string, headers = {}) =>
        show(keyForm, view, new Map([[id, text]]), status, headers)
      if (!applies(keyForm, key)) return Html.redirect(`${visit.base}${path}`)
      const faults = faultsOf(keyForm, form)
      if (faults.size > 0) return yield* show(keyForm, view, faults, 400)
      const sessions = yield* ConsoleSessions
      const checked = Effect.andThen(
        sessions.verifyPassword(view.admin, form.secret("password"), visit.ip),
        StepUp.check(view, form)
      )
      const done = perform(keyForm, key, form).pipe(
        Effect.flatMap((code) => showCode(view, code)),
        Effect.catchTag("PasswordUnfit", ({ message }) => again(400, "new", message)),
        Effect.catchTag("WrongArchivePassword", () => again(403, "secret", keyForm.secret?.wrong ?? "")),
        Effect.catchTag("ArchiveKeyChanged", ({ message }) => again(409, "new", message)),
        Effect.catchTag(
          "too_many_attempts",
          ({ message, retry_after }) => again(429, "secret", message, { "retry-after": String(retry_after) })
        )
      )
      return yield* Effect.andThen(checked, done).pipe(Serving.showRefusal, StepUp.again(again))
    }))

const get = (form: KeyForm) => (visit: PageRequest) =>
  Serving.asAdmin(
    visit,
    pathOf(form),
    (view) =>
      Effect.flatMap(
        owned,
        (key) => applies(form, key) ? show(form, view) : Effect.succeed(Html.redirect(`${visit.base}${path}`))
      )
  )

export const routesOf = (form: KeyForm) =>
  [Serving.route("GET", pathOf(form), get(form)), Serving.route("POST", pathOf(form), post(form))] as const
