/** Choosing a new password without the old one: asking for a link, and the page that the link leads to. */
import { Effect, Option, Redacted } from "effect"
import { maxEmailLength } from "../../../domain/Limits.ts"
import { resetPath } from "../../../ports/signin/ConsoleAddress.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import { ForgottenPasswords, type OpenReset } from "../../../ports/signin/ForgottenPasswords.ts"
import { Html, html, type PageRequest, SentForm, Serving } from "../kit/index.ts"
import * as NewPassword from "./NewPassword.ts"
import { attemptOf, limited } from "./NewPassword.ts"

const path = resetPath
const passwordPath = `${path}/password`

const back = ({ base }: PageRequest): Html.Html =>
  html`<p><a href="${base}/console/sign-in">Back to the sign-in</a></p>`

/** A page with a message, or a form for an address. */
const page = (visit: PageRequest, title: string, body: Html.Html) =>
  Html.respond({ base: visit.base, title, narrow: true, body })

/** The page where no mail is sent. */
const askOperator = (visit: PageRequest) =>
  page(
    visit,
    "Forgotten password",
    html`
<h1>Forgotten your password?</h1>
<p>This console sends no mail, so it cannot send you a link.</p>
<p>Ask whoever operates it for your organization: they can make a link for you, by which you choose a new password.</p>
${back(visit)}`
  )

const showRequest = (visit: PageRequest) =>
  page(
    visit,
    "Forgotten password",
    html`
<h1>Forgotten your password?</h1>
<p class="lead">A mail brings you a link by which you choose a new one.</p>
<form method="post" action="${visit.base}${path}" class="card">
  ${
      visit.site.organizationId !== null ? undefined : html`
  <div class="field">
    <label for="organization">Organization</label>
    <p class="hint" id="organization-hint">Its short name, such as acme.</p>
    <input type="text" id="organization" name="organization" required maxlength="63" autocomplete="organization" autocapitalize="none" spellcheck="false" aria-describedby="organization-hint">
  </div>`
    }
  <div class="field">
    <label for="email">Email address</label>
    <input type="email" id="email" name="email" required maxlength="${maxEmailLength}" autocomplete="username" autocapitalize="none" spellcheck="false">
  </div>
  <button class="main">Send me a link</button>
</form>
${back(visit)}`
  )

/** One page for every address, known or not. */
const requested = (visit: PageRequest) =>
  page(
    visit,
    "Look into your mail",
    html`
<h1>Look into your mail</h1>
<p class="good" role="status">If an admin of the organization has this address, a mail with a link is there, or on its way.</p>
<p>The link works once, for an hour. Another mail is sent after 15 minutes at the earliest.</p>
<p class="hint">Nothing comes? Look among the unwanted mail, check the organization's name and the address, or ask whoever operates this console for a link.</p>
${back(visit)}`
  )

const replaced = (visit: PageRequest) =>
  page(
    visit,
    "Your password is changed",
    html`
<h1>Your password is changed</h1>
<p class="good" role="status">Sign in with the new one. A mail tells you of the change.</p>
<p>Your API keys, connected applications and sessions have ended with the old password: create keys anew, and connect applications again.</p>
<p><a class="button main" href="${visit.base}/console/sign-in">Sign in</a></p>`
  )

const ended = (visit: PageRequest) =>
  NewPassword.ended(visit, {
    text:
      "A link works once and for an hour, and stops when the password is changed, or your organization has its admins sign in by its identity provider.",
    advice: "Ask for another one on the page “Forgotten your password?” of the sign-in."
  })

const show = (
  visit: PageRequest,
  { email, organizationName }: OpenReset,
  token: Redacted.Redacted,
  faults: Html.Faults,
  status?: number
) =>
  Html.respond({
    base: visit.base,
    title: faults.size === 0 ? "Choose a new password" : "Problem: choose a new password",
    narrow: true,
    status,
    body: html`
<h1>Choose a new password</h1>
<p class="lead">For the console of <strong>${Html.named(organizationName)}</strong>.</p>
${Html.summary(faults)}
<form method="post" action="${visit.base}${passwordPath}" class="card">
  ${NewPassword.fields(token, email, "New password", faults)}
  <p>Your API keys, connected applications and sessions end with the old password. You sign in with the new one afterwards.</p>
  <button class="main">Change password</button>
</form>`
  })

/** The form that requests a link, its result, or the form that a link opens. */
const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const passwords = yield* ForgottenPasswords
    const query = new URLSearchParams(visit.query)
    const token = query.get("token")
    if (token !== null) {
      const secret = Redacted.make(token)
      const found = yield* passwords.look(secret, visit.site, attemptOf(visit))
      return found === null ? yield* ended(visit) : yield* show(visit, found, secret, Html.noFaults)
    }
    if (query.get("done") === "changed") return yield* replaced(visit)
    if (!passwords.available) return yield* askOperator(visit)
    return query.get("done") === "sent" ? yield* requested(visit) : yield* showRequest(visit)
  }).pipe(limited(visit))

/** Takes the request for a link, and gives the same answer for every address. */
const request = (visit: PageRequest) =>
  Effect.gen(function*() {
    const form = yield* SentForm.read(visit)
    if (Option.isNone(form)) return yield* SentForm.foreign(visit)
    const passwords = yield* ForgottenPasswords
    if (!passwords.available) return yield* askOperator(visit)
    const who = {
      organization: form.value.text("organization").trim().toLowerCase(),
      email: form.value.text("email").trim()
    }
    const browser = (yield* ConsoleSessions).browser(visit.cookies, visit.site)
    yield* passwords.request(who, visit.site, { ...attemptOf(visit), browser })
    return Html.redirect(`${visit.base}${path}?done=sent`)
  }).pipe(limited(visit, "requests"))

/** Sets the password and uses up the link; the admin signs in afterwards. */
const setPassword = (visit: PageRequest) =>
  Effect.gen(function*() {
    const passwords = yield* ForgottenPasswords
    return yield* NewPassword.choose(visit, {
      look: (token) => passwords.look(token, visit.site, attemptOf(visit)),
      set: (token, password) => passwords.set(token, password, visit.site, attemptOf(visit)),
      show: (found, token, faults) => show(visit, found, token, faults, 400),
      ended: ended(visit),
      done: () => Effect.succeed(Html.redirect(`${visit.base}${path}?done=changed`)),
      differs: "This is not the same as the new password."
    })
  }).pipe(limited(visit))

export const routes = [
  Serving.route("GET", path, get),
  Serving.route("POST", path, request),
  Serving.route("POST", passwordPath, setPassword)
] as const
