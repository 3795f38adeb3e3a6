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
import { type AdminPage, Fields, Form, Forms, Frame, Html, html, type SentForm, Times } from "../kit/index.ts"

export const pathOf = (id: string): `/${string}` => `/console/logins/${id}`

/** The forms, each by the end of its address. */
type Step = "code" | "password" | "resend" | "cancel"

/** The login as the page shows it. */
type ShownLogin = Omit<Login, "content_notice" | "created_at" | "object">

const left = (count: number): string => count === 1 ? "1 entry is left." : `${count} entries are left.`

const deliveries = {
  app: "The messenger sent a code to its app, where the holder is signed in.",
  sms: "The messenger sent the holder a code by text message.",
  call: "The messenger calls the holder and says the code.",
  email: "The messenger sent a code to the holder’s email address for signing in.",
  other: "The messenger sent the holder a code."
}

const form = (view: AdminPage, id: string, step: Step, content: Html.Html): Html.Html =>
  Forms.open(
    view,
    { path: `${pathOf(id)}/${step}`, ...(step === "code" || step === "password" ? { class: "card" } : {}) },
    content
  )

const codeForm = (view: AdminPage, login: ShownLogin, faults: Html.Faults): Html.Html => {
  const length = login.code_length === null ? "" : `${login.code_length} characters. `
  const code = {
    name: "code",
    label: "Code",
    hint: `${length}The holder reads it to you. ${left(login.attempts_left)}`
  }
  return form(
    view,
    login.id,
    "code",
    html`${
      Fields.input(faults, code, {
        required: true,
        autocomplete: "one-time-code",
        autocapitalize: "none",
        spellcheck: "false",
        maxlength: 32
      })
    }
  <button class="main">Enter the code</button>`
  )
}

const hint = ({ password_hint }: ShownLogin): Html.Html | undefined => {
  const text = shownName(password_hint ?? "", maxHolderPasswordLength)
  return text === null
    ? undefined
    : html`<p>The holder’s own hint for it: <q class="claim" dir="auto">${text}</q></p>`
}

const passwordForm = (view: AdminPage, login: ShownLogin, faults: Html.Faults): Html.Html =>
  form(
    view,
    login.id,
    "password",
    html`${hint(login)}
  ${
      Fields.password(faults, {
        label: "2FA password of the account’s holder",
        hint: `It is used this once, and not kept. ${left(login.attempts_left)}`,
        autocomplete: "off"
      })
    }
  <button class="main">Enter the password</button>`
  )

const resend = (view: AdminPage, { id, resend_at, state }: ShownLogin): Html.Html | undefined =>
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

const ended = (view: AdminPage, { account_id, error, state }: ShownLogin): Html.Html =>
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

const open = (view: AdminPage, login: ShownLogin, faults: Html.Faults): Html.Html =>
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
const doneAt = ({ account_id, kind }: Pick<ShownLogin, "account_id" | "kind">): string =>
  `/console/accounts/${account_id ?? ""}?done=${kind === "relogin" ? "account_reconnected" : "account_connected"}`

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, sent: Form.Outcome) {
  const { base } = view.visit
  const login: ShownLogin = yield* getLogin.call({ login_id: id })
  if (login.state === "completed") return Html.redirect(`${base}${doneAt(login)}`)
  // A login that has ended has no field that a fault could belong to.
  const outcome = isOpen(login) ? sent : { ...sent, faults: Html.noFaults, problem: sent.problem ?? sent.words }
  const title = login.kind === "relogin" ? "Reconnect an account" : "Connect an account"
  return yield* Frame.page(view, {
    title,
    named: true,
    outcome,
    body: html`
<p class="back"><a href="${base}/console/accounts">Accounts</a></p>
<h1>${title}: <span class="number">${PhoneNumber.shown(login.phone_number)}</span></h1>
${Form.notice(outcome)}
${isOpen(login) ? open(view, login, outcome.faults) : ended(view, login)}`
  })
})

const page = Form.page({
  path: "/console/logins/:login_id",
  show,
  refusals: {
    code: `Enter the code as the messenger sent it: ${minCodeLength} to ${maxCodeLength} letters, digits or hyphens.`,
    password: `Enter the password of the account’s holder, of at most ${maxHolderPasswordLength} characters.`,
    login_step: "Somebody was faster: this is how far the login is now.",
    resend_too_early: "The messenger does not send another code yet."
  }
})

/** The next step is a page of its own. */
const next = (login: Pick<ShownLogin, "account_id" | "id" | "kind" | "state">): string =>
  login.state === "completed" ? doneAt(login) : pathOf(login.id)

/** People write a code with a gap in its middle. */
const codeOf = (form: SentForm.Form): string => Redacted.value(form.secret("code")).replaceAll(/\s/g, "")

export const routes = page.routes([
  page.form({
    name: "code",
    submit: ({ form, id }) => submitLoginCode.call({ login_id: id, code: codeOf(form) }),
    next
  }),
  page.form({
    name: "password",
    submit: ({ form, id }) =>
      submitLoginPassword.call({ login_id: id, password: Redacted.value(form.secret("password")) }),
    next
  }),
  page.form({ name: "resend", submit: ({ id }) => resendLoginCode.call({ login_id: id }), next }),
  page.form({ name: "cancel", submit: ({ id }) => cancelLogin.call({ login_id: id }), next })
])
