/**
 * One login: how far it is, and what comes next. What is typed here goes to the messenger, and is never shown again.
 */
import { Effect, Redacted } from "effect"
import { maxCodeLength, maxHolderPasswordLength, minCodeLength } from "../../../domain/Limits.ts"
import { isOpen, type Login } from "../../../domain/logins/Login.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import { shownName } from "../../../domain/oauth/ClientName.ts"
import { cancelLogin } from "../../../operations/logins/cancel_login.ts"
import { getLogin } from "../../../operations/logins/get_login.ts"
import { resendLoginCode } from "../../../operations/logins/resend_login_code.ts"
import { submitLoginCode } from "../../../operations/logins/submit_login_code.ts"
import { submitLoginPassword } from "../../../operations/logins/submit_login_password.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Times from "../kit/Times.ts"
import * as Visit from "../kit/Visit.ts"

const path = "/console/logins/:login_id"
export const pathOf = (id: string): `/${string}` => `/console/logins/${id}`

/** The forms, each by the end of its address. */
type Step = "code" | "password" | "resend" | "cancel"

/** The text that a form's token is bound to. */
const token = (step: Step, id: string): string => `login ${step} ${id}`

/** The login as the page shows it. */
type Shown = Pick<
  Login,
  | "account_id"
  | "attempts_left"
  | "code_delivery"
  | "code_length"
  | "error"
  | "expires_at"
  | "id"
  | "kind"
  | "password_hint"
  | "phone_number"
  | "resend_at"
  | "state"
>

const inputs = {
  code: `Enter the code as the messenger sent it: ${minCodeLength} to ${maxCodeLength} letters, digits or hyphens.`,
  password: `Enter the password of the account’s holder, of at most ${maxHolderPasswordLength} characters.`
}

const left = (count: number): string => count === 1 ? "1 entry is left." : `${count} entries are left.`

const deliveries = {
  app: "The messenger sent a code to its app, where the holder is signed in.",
  sms: "The messenger sent the holder a code by text message.",
  call: "The messenger calls the holder and says the code.",
  email: "The messenger sent a code to the holder’s email address for signing in.",
  other: "The messenger sent the holder a code."
}

/** Texts for the operations' failure codes. */
const problems: Readonly<Record<string, string>> = {
  login_step: "Somebody was faster: this is how far the login is now.",
  resend_too_early: "The messenger does not send another code yet."
}

const form = (view: Visit.View, id: string, step: Step, content: Html.Html): Html.Html =>
  html`<form method="post" action="${view.visit.base}${pathOf(id)}/${step}"${
    step === "code" || step === "password" ? html` class="card"` : undefined
  }>
  ${Forms.hidden(view, token(step, id))}
  ${content}
</form>`

const codeForm = (view: Visit.View, login: Shown, faults: Html.Faults): Html.Html =>
  form(
    view,
    login.id,
    "code",
    html`<div class="field">
    <label for="code">Code</label>
    <p class="hint" id="code-hint">${
      login.code_length === null ? undefined : `${login.code_length} characters. `
    }The holder reads it to you. ${left(login.attempts_left)}</p>
    ${Html.fault(faults, "code")}
    <input type="text" id="code" name="code" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"${
      Html.described(faults, "code", true)
    }>
  </div>
  <button class="main">Enter the code</button>`
  )

const hint = ({ password_hint }: Shown): Html.Html | undefined => {
  const text = shownName(password_hint ?? "", maxHolderPasswordLength)
  return text === null
    ? undefined
    : html`<p>The holder’s own hint for it: <q class="claim" dir="auto">${text}</q></p>`
}

const passwordForm = (view: Visit.View, login: Shown, faults: Html.Faults): Html.Html =>
  form(
    view,
    login.id,
    "password",
    html`${hint(login)}
  <div class="field">
    <label for="password">2FA password of the account’s holder</label>
    <p class="hint" id="password-hint">It is used this once, and not kept. ${left(login.attempts_left)}</p>
    ${Html.fault(faults, "password")}
    <input type="password" id="password" name="password" required autocomplete="off"${
      Html.described(faults, "password", true)
    }>
  </div>
  <button class="main">Enter the password</button>`
  )

const resend = (view: Visit.View, { id, resend_at, state }: Shown): Html.Html | undefined =>
  state !== "code_sent"
    ? undefined
    : resend_at !== null && resend_at.getTime() > view.now
    ? html`<p class="hint">Another code can be sent ${Times.when(resend_at, view.now)}. <a href="${view.visit.base}${
      pathOf(id)
    }">Look again</a></p>`
    : form(view, id, "resend", html`<button>Send another code</button>`)

const failures: Readonly<Record<string, string>> = {
  already_connected:
    "This account is protected already, by this organization or another one, or you do not have access to it.",
  code_invalid: "Too many wrong entries were made.",
  no_free_seat: "The organization has no free seat.",
  not_licensed: "The organization’s licence does not cover another account.",
  password_invalid: "Too many wrong entries were made.",
  phone_refused: "The messenger has no account that can be signed in to with this number.",
  wrong_account: "Another person signed in than the one the account belongs to."
}

const ended = (view: Visit.View, { account_id, error, state }: Shown): Html.Html =>
  html`<section aria-labelledby="ended">
  <h2 id="ended">${
    state === "cancelled"
      ? "This login is cancelled"
      : state === "expired"
      ? "This login has run out"
      : "This login has failed"
  }</h2>
  <p>${
    state === "failed"
      ? Object.hasOwn(failures, error ?? "") ? failures[error ?? ""] : "The messenger did not take it."
      : "Its code works no longer."
  } Nothing of it was connected.</p>
  <p><a class="button main" href="${view.visit.base}/console/accounts/${account_id ?? "connect"}">${
    account_id === null ? "Start again" : "Go to the account"
  }</a></p>
</section>`

const open = (view: Visit.View, login: Shown, faults: Html.Faults): Html.Html =>
  html`<p class="lead" role="status">${
    login.state === "code_sent"
      ? deliveries[login.code_delivery ?? "other"]
      : "The code was right. The account has a 2FA password too, which its holder knows."
  }</p>
${login.state === "code_sent" ? codeForm(view, login, faults) : passwordForm(view, login, faults)}
<div class="actions">
  ${resend(view, login)}
  ${form(view, login.id, "cancel", html`<button>Cancel the login</button>`)}
</div>
<p class="hint after">The login runs out ${
    Times.when(login.expires_at, view.now)
  } unless its next step is taken. Starting again with the same number leads back here.</p>`

/** The path that a completed login leads to. */
const doneAt = (base: string, { account_id, kind }: Pick<Shown, "account_id" | "kind">) =>
  Html.redirect(
    `${base}/console/accounts/${account_id ?? ""}?done=${
      kind === "relogin" ? "account_reconnected" : "account_connected"
    }`
  )

const show = Effect.fnUntraced(function*(view: Visit.View, id: string, refused?: Refused.RefusedForm) {
  const login: Shown = yield* getLogin.call({ login_id: id })
  if (login.state === "completed") return doneAt(view.visit.base, login)
  const faults = isOpen(login) ? Refused.faultsOf(refused, inputs) : Html.noFaults
  const title = login.kind === "relogin" ? "Reconnect an account" : "Connect an account"
  return yield* Frame.page(view, {
    title: refused === undefined ? title : `Problem: ${title}`,
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<p class="back"><a href="${view.visit.base}/console/accounts">Accounts</a></p>
<h1>${title}: <span class="number">${PhoneNumber.shown(login.phone_number)}</span></h1>
${
      faults.size > 0
        ? Html.summary(faults)
        : refused === undefined
        ? undefined
        : Refused.box(Object.hasOwn(problems, refused.code) ? problems[refused.code] : refused.problem)
    }
${isOpen(login) ? open(view, login, faults) : ended(view, login)}`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, visit.path, (view) => Effect.flatMap(Visit.idOf(visit, "login_id"), (id) => show(view, id)))

/** Answers a form by its operation; the next step is a page of its own. */
const take = <E, R>(
  step: Step,
  run: (login_id: string, form: SentForm.Form) => Effect.Effect<Pick<Shown, "account_id" | "kind" | "state">, E, R>
) =>
  Visit.route(
    "POST",
    `${path}/${step}`,
    (visit) =>
      Effect.flatMap(Visit.idOf(visit, "login_id"), (id) =>
        Forms.submitted(visit, pathOf(id), () =>
          token(step, id), (form, view) =>
          run(id, form).pipe(
            Effect.map((login) =>
              login.state === "completed" ? doneAt(visit.base, login) : Html.redirect(`${visit.base}${pathOf(id)}`)
            ),
            Refused.orShow((refused) => show(view, id, refused))
          )))
  )

export const routes = [
  Visit.route("GET", path, get),
  // People write a code with a gap in its middle.
  take(
    "code",
    (login_id, form) =>
      submitLoginCode.call({ login_id, code: Redacted.value(form.secret("code")).replaceAll(/\s/g, "") })
  ),
  take(
    "password",
    (login_id, form) => submitLoginPassword.call({ login_id, password: Redacted.value(form.secret("password")) })
  ),
  take("resend", (login_id) => resendLoginCode.call({ login_id })),
  take("cancel", (login_id) => cancelLogin.call({ login_id }))
] as const
