/** An admin's own password and console sessions. */
import { Effect } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { minPasswordLength } from "../../../domain/Limits.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { ConsolePasswords } from "../../../ports/signin/ConsolePasswords.ts"
import { ConsoleSessions, type ListedSession } from "../../../ports/signin/ConsoleSessions.ts"
import { SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Notices from "../kit/PageNotices.ts"
import * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import { path as factorPath } from "./FactorForm.ts"
import * as Factors from "./FactorsPage.ts"
import * as Identity from "./IdentityPage.ts"
import * as StepUp from "./StepUp.ts"

const path = "/console/security"
const passwordPath = `${path}/password`
const endPath = `${path}/sessions/end`

/** The texts that the tokens of the page's forms are bound to. */
const passwordForm = "change password"
const endForm = (id: string): string => `end session ${id}`

const dones: ReadonlyMap<string, string> = new Map([
  ["password", "Your password is changed. Keys made before no longer work, and your other sessions have ended."],
  ["ended", "The session has ended."],
  ["others", "All other sessions have ended."]
])

const endButton = (view: Visit.View, id: string, text: string): Html.Html =>
  html`<form method="post" action="${view.visit.base}${endPath}" class="after">
    ${Forms.hidden(view, endForm(id), { id })}
    <button class="danger">${text}</button>
  </form>`

const sessionRow = (view: Visit.View) => ({ address, browser, createdAt, current, id, lastUsedAt }: ListedSession) =>
  html`<li>
  <h3>${browser ?? "Unknown browser"}${current ? html` ${Statuses.mark("note", "This session")}` : undefined}</h3>
  <dl>
    <dt>Signed in</dt><dd>${Html.momentOf(createdAt)}</dd>
    <dt>Last used</dt><dd>${Html.momentOf(lastUsedAt)}</dd>
    <dt>Address</dt><dd>${address ?? "Unknown"}</dd>
  </dl>
  ${
    current
      ? undefined
      : endButton(view, id, `End the session of ${Html.plainMoment(createdAt)}`)
  }
</li>`

const field = (
  faults: Html.Faults,
  { autocomplete, hint, id, label }: { id: string; label: string; hint?: string; autocomplete: string }
): Html.Html =>
  html`
  <div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${Html.fault(faults, id)}
    <input type="password" id="${id}" name="${id}" required autocomplete="${autocomplete}"${
    Html.described(faults, id, hint !== undefined)
  }>
  </div>`

interface Shown {
  readonly faults: Html.Faults
  readonly done?: string | undefined
  readonly disconnect?: boolean
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const show = Effect.fnUntraced(function*(view: Visit.View, shown: Shown) {
  const { admin, visit } = view
  const { faults } = shown
  const sessions = yield* (yield* ConsoleSessions).list(admin)
  const showNotices = yield* Notices.make(view)
  const factors = yield* (yield* SecondFactors).state(admin)
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  const identity = yield* Identity.section(view)
  return yield* Frame.page(view, {
    title: "Password and sessions",
    wide: true,
    faults,
    status: shown.status,
    headers: shown.headers,
    script: stepUp.script,
    body: html`
<h1>Password and sessions</h1>
<p class="lead">How you sign in at this console, and where you are signed in.</p>
${shown.done === undefined ? undefined : html`<p class="good" role="status">${shown.done}</p>`}
${Html.summary(faults)}
${showNotices()}
<div class="columns even">
<div>
<section aria-labelledby="sessions">
  <h2 id="sessions">Your sessions</h2>
  <ul class="plain">${sessions.map(sessionRow(view))}</ul>
  ${sessions.length < 2 ? undefined : endButton(view, "all", "End all other sessions")}
</section>
<section aria-labelledby="factor">
  <h2 id="factor">Second factor</h2>
  <p>You have ${Factors.summary(factors)}.</p>
  <p><a class="button" href="${visit.base}${factorPath}">Manage your second factor</a></p>
</section>
${identity}
</div>
<div>
<section aria-labelledby="change">
  <h2 id="change">Change your password</h2>
  <p>Your API keys stop working with the old password, and your other sessions end.</p>
  <form method="post" action="${visit.base}${passwordPath}">
    ${Forms.hidden(view, passwordForm)}
    <input type="text" name="username" value="${admin.email}" autocomplete="username" hidden>
    ${field(faults, { id: "current", label: "Current password", autocomplete: "current-password" })}
    ${stepUp.field}
    ${
      field(faults, {
        id: "new",
        label: "New password",
        hint: `At least ${minPasswordLength} characters; a few words that do not belong together are good.`,
        autocomplete: "new-password"
      })
    }
    ${field(faults, { id: "repeated", label: "New password again", autocomplete: "new-password" })}
    <div class="choice">
      <input type="checkbox" id="disconnect" name="disconnect" value="yes"${
      shown.disconnect === false ? "" : " checked"
    }>
      <label for="disconnect"><span class="name">Disconnect my applications</span> <span class="hint">They have to be connected anew. Leave this ticked if somebody else may know your password.</span></label>
    </div>
    <button class="main after">Change password</button>
  </form>
</section>
</div>
</div>`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(
    visit,
    path,
    (view) => show(view, { faults: Html.noFaults, done: dones.get(new URLSearchParams(visit.query).get("done") ?? "") })
  )

const done = (visit: Visit.Visit, what: string) => Html.redirect(`${visit.base}${path}?done=${what}`)

/** Changes the password; the session goes on under a new secret. */
const changePassword = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, () => passwordForm, (form, view) =>
    Effect.gen(function*() {
      const sessions = yield* ConsoleSessions
      const passwords = yield* ConsolePasswords
      const disconnect = form.text("disconnect") === "yes"
      const again = (status: number, id: string, text: string, headers = {}) =>
        show(view, { faults: new Map([[id, text]]), status, headers, disconnect })
      if (form.text("new") !== form.text("repeated")) {
        return yield* again(400, "repeated", "This is not the same as the new password.")
      }
      const caller = yield* Caller
      const change = {
        current: form.secret("current"),
        next: form.secret("new"),
        disconnect,
        browser: sessions.browser(visit.cookies, visit.site)
      }
      return yield* Effect.andThen(StepUp.check(view, form), passwords.change(caller, change)).pipe(
        Visit.showRefusal,
        Effect.andThen(sessions.renew(view.admin, visit)),
        Effect.map((cookies) =>
          HttpServerResponse.mergeCookies(done(visit, "password"), Cookies.fromSetCookie(cookies))
        ),
        Effect.catchTag(
          "StepUpRefused",
          ({ headers, message, status }) => again(status, StepUp.fieldId, message, headers)
        ),
        Effect.catchTag("PasswordUnfit", ({ message }) => again(400, "new", message)),
        Effect.catchTag("password_incorrect", () => again(403, "current", "This is not your current password.")),
        Effect.catchTag(
          "too_many_attempts",
          ({ message, retry_after }) => again(429, "current", message, { "retry-after": String(retry_after) })
        )
      )
    }))

/** Ends one other session, or all others. */
const end = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, (form) => endForm(form.text("id")), (form, view) =>
    Effect.gen(function*() {
      const id = form.text("id")
      if (id !== "all" && !isUuid(id)) return yield* SentForm.foreign(visit)
      yield* (yield* ConsoleSessions).endOther(view.admin, id, visit)
      return done(visit, id === "all" ? "others" : "ended")
    }))

export const routes = [
  Visit.route("GET", path, get),
  Visit.route("POST", passwordPath, changePassword),
  Visit.route("POST", endPath, end)
] as const
