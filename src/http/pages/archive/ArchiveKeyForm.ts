/** The forms that set or change the archive password; each asks for the console password and the second factor again. */
import { Effect, type Redacted } from "effect"
import type { WrapKind } from "../../../domain/archive/Epoch.ts"
import { minPasswordLength } from "../../../domain/Limits.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as StepUp from "../signin/StepUp.ts"

export const path = Tabs.archiveKeyPath

/** A field of the form for the secret that opens the key as it is. */
export interface Secret {
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

/** The box of a form that gives up what was archived. */
export const lossRefused = "Tick this, or leave the key as it is."
export const isLossAccepted = ({ loses }: KeyForm, form: SentForm.Form): boolean =>
  loses !== true || form.text("lost") === "yes"

export const pathOf = ({ name }: Pick<KeyForm, "name">) => `${path}/${name}` as const

/** The address of the form whose password the service is sent. */
const byService = (base: string, form: Pick<KeyForm, "name">): string => `${base}${pathOf(form)}?by=service`

/** The form as it is handled in the browser: its script and worker, and what they need to know. */
export interface BrowserPart {
  readonly script: string
  readonly integrity: string
  readonly worker: string
  readonly further: ReadonlyArray<string>
  /** JSON, for the worker. */
  readonly facts: string
  /** The wrap of the password that the form is about; empty where there is none. */
  readonly seen: string
}

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
    <label for="lost"><span class="name">Give up what is archived until now</span> <span class="hint">Only its own password opens it, where that is found again: no other, neither you nor the service.</span></label>
  </div>`

export const tokenOf = (form: KeyForm): string => `archive key ${form.name}`

const passwordHint =
  `At least ${minPasswordLength} characters, and not one that is used elsewhere. Whoever reads the archive enters it.`

/** The button of a form, which a browser that runs scripts shows once the form is handled there. */
const buttons = (form: KeyForm, browser: BrowserPart | null): Html.Html => {
  const kind = form.loses === true ? "danger" : "main"
  const plain = html`<button class="${kind}">${form.button}</button>`
  return browser === null
    ? html`<div class="actions">${plain}</div>`
    : html`<div class="actions">
    <noscript>${plain}</noscript>
    <button class="${kind}" disabled hidden>${form.button}</button>
  </div>`
}

/** The place of what becomes of the password; the script says so once it is true. */
const promise = (base: string, form: KeyForm, browser: BrowserPart | null): Html.Html => {
  const once = html`<p class="lead">The archive password passes through the service once, and is not kept.</p>`
  return browser === null ? once : html`<noscript>${once}</noscript>
<p class="lead by-script" id="key-place">A script of this page makes the key in this browser. If no button appears below, load the page again, or <a href="${
    byService(base, form)
  }">let the service make it</a>, which sees the password once then.</p>`
}

/** The page of a form, with the messages of its refusal. */
export const show = Effect.fnUntraced(function*(
  form: KeyForm,
  view: AdminPage,
  browser: BrowserPart | null,
  { faults = Html.noFaults, headers, status }: Pick<Frame.Content, "faults" | "headers" | "status"> = {}
) {
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  const { base } = view.visit
  return yield* Frame.page(view, {
    title: form.title,
    faults,
    status,
    headers,
    ...(browser === null
      ? { script: stepUp.script }
      : {
        script: browser.script,
        integrity: browser.integrity,
        further: browser.further,
        stepUpScript: stepUp.script
      }),
    body: html`
<p class="back"><a href="${base}${path}">Archive password</a></p>
<h1>${form.title}</h1>
<p class="lead">${form.lead}</p>
${promise(base, form, browser)}
${Html.summary(faults)}
<form method="post" action="${base}${pathOf(form)}" class="card"${
      browser === null
        ? undefined
        : html` data-worker="${browser.worker}" data-key="${browser.facts}" data-home="${base}${path}"`
    }>
  ${Forms.hidden(view, tokenOf(form), browser === null ? {} : { seen: browser.seen })}
  <input type="text" name="username" value="${view.admin.email}" autocomplete="username" hidden>
  ${field(faults, { id: "password", label: "Console password", autocomplete: "current-password" })}
  ${stepUp.field}
  ${form.secret === undefined ? undefined : secretField(faults, form.secret)}
  ${field(faults, { id: "new", label: "New archive password", hint: passwordHint, autocomplete: "new-password" })}
  ${field(faults, { id: "repeated", label: "New archive password again", autocomplete: "new-password" })}
  ${form.loses === true ? lossBox(faults) : undefined}
  ${buttons(form, browser)}
</form>`
  })
})

/** The code, on the only page that ever shows it. */
export const showCode = (view: AdminPage, code: Redacted.Redacted) =>
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
