/** The page on which somebody who is invited sets a password. */
import { Clock, Effect, Option, Redacted } from "effect"
import { Invitations, type OpenInvitation } from "../../console/Invitations.ts"
import { minPasswordLength } from "../../domain/Limits.ts"
import { invitationPath } from "../../ports/ConsoleAddress.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import { home } from "./Navigation.ts"
import * as Visit from "./Visit.ts"

const path = invitationPath

const attemptOf = ({ ip, requestId }: Visit.Visit) => ({ via: "console", ip, requestId } as const)

/** The page for a link that is unknown, used or over: which of them is not told. */
const ended = ({ base, requestId }: Visit.Visit) =>
  Visit.problem(base, requestId, {
    status: 404,
    title: "This link does not work",
    text: "An invitation works once and for 7 days, and stops when it is sent again.",
    advice: "Ask whoever invited you to send the invitation again."
  })

interface Shown {
  readonly faults: Html.Faults
  readonly status?: number
}

const field = (faults: Html.Faults, id: string, label: string, hint?: string): Html.Html =>
  html`
  <div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    <input type="password" id="${id}" name="${id}" required autocomplete="new-password"${
    Html.described(faults, id, hint !== undefined)
  }>
  </div>`

const show = (
  visit: Visit.Visit,
  { email, organizationName, role }: OpenInvitation,
  token: Redacted.Redacted,
  { faults, status }: Shown
) =>
  Html.respond({
    base: visit.base,
    title: faults.size === 0 ? "Invitation" : "Problem: invitation",
    narrow: true,
    status,
    body: html`
<h1>You are invited</h1>
<p class="lead">Set a password to become an admin of <strong>${organizationName}</strong>, with the role ${role}.</p>
${Html.summary(faults)}
<form method="post" action="${visit.base}${path}" class="card">
  <input type="hidden" name="token" value="${Redacted.value(token)}">
  <div class="field">
    <label for="email">Email address</label>
    <input type="email" id="email" name="email" value="${email}" autocomplete="username" readonly>
  </div>
  ${
      field(
        faults,
        "new",
        "Password",
        `At least ${minPasswordLength} characters; a few words that do not belong together are good.`
      )
    }
  ${field(faults, "repeated", "Password again")}
  <button class="main">Set password and sign in</button>
</form>`
  })

const refused = (visit: Visit.Visit) => ({ message, retry_after }: { message: string; retry_after: number }) =>
  Visit.problem(visit.base, visit.requestId, {
    status: 429,
    title: "Too many attempts",
    text: message.replace("wrong passwords", "wrong links"),
    headers: { "retry-after": String(retry_after) }
  })

/** The form, for whoever holds a link that works. */
const get = (visit: Visit.Visit) =>
  Effect.gen(function*() {
    const invitations = yield* Invitations
    const token = Redacted.make(new URLSearchParams(visit.query).get("token") ?? "")
    const found = yield* invitations.look(token, visit.site, attemptOf(visit))
    return found === null ? yield* ended(visit) : yield* show(visit, found, token, { faults: Html.noFaults })
  }).pipe(Visit.tellRefusal, Effect.catchTag("too_many_attempts", refused(visit)))

/** Sets the password, uses the invitation up, and signs the new admin in. */
const post = (visit: Visit.Visit) =>
  Effect.gen(function*() {
    const form = yield* Visit.form(visit)
    if (Option.isNone(form)) return yield* Visit.foreignForm(visit)
    const invitations = yield* Invitations
    const token = form.value.secret("token")
    const again = (id: string, text: string) =>
      Effect.flatMap(invitations.look(token, visit.site, attemptOf(visit)), (found) =>
        found === null ? ended(visit) : show(visit, found, token, { faults: new Map([[id, text]]), status: 400 }))
    if (form.value.text("new") !== form.value.text("repeated")) {
      return yield* again("repeated", "This is not the same as the password.")
    }
    return yield* invitations.accept(token, form.value.secret("new"), visit.site, attemptOf(visit)).pipe(
      Effect.flatMap((joined) =>
        joined === null ? ended(visit) : Effect.gen(function*() {
          const since = new Date(yield* Clock.currentTimeMillis)
          return yield* Visit.signIn(visit, joined, { since, details: { way: "invitation" } }, home)
        })
      ),
      Effect.catchTag("PasswordUnfit", ({ message }) =>
        again("new", message))
    )
  }).pipe(Visit.tellRefusal, Effect.catchTag("too_many_attempts", refused(visit)))

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
