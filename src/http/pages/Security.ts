/** An admin's own password and console sessions. */
import { Effect, Option } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { ConsoleSessions, type ListedSession } from "../../console/ConsoleSessions.ts"
import { Caller } from "../../domain/Access.ts"
import { minPasswordLength } from "../../domain/Limits.ts"
import { isUuid } from "../../domain/Wire.ts"
import { ConsolePasswords } from "../../ports/ConsolePasswords.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import * as Notices from "./Notices.ts"
import { outForm } from "./SignIn.ts"
import * as Visit from "./Visit.ts"

export const path = "/console/security"
export const passwordPath = `${path}/password`
export const endPath = `${path}/sessions/end`

/** What the tokens of the page's forms stand for. */
const passwordForm = "change password"
const endForm = (id: string): string => `end session ${id}`

const dones: ReadonlyMap<string, string> = new Map([
  ["password", "Your password is changed. Keys made before no longer work, and your other sessions have ended."],
  ["ended", "The session has ended."],
  ["others", "All other sessions have ended."]
])

const endButton = (view: Visit.View, id: string, text: string): Html.Html =>
  html`<form method="post" action="${view.visit.base}${endPath}" class="after">
    <input type="hidden" name="csrf" value="${view.csrf(endForm(id))}">
    <input type="hidden" name="id" value="${id}">
    <button class="danger">${text}</button>
  </form>`

const sessionRow = (view: Visit.View) => ({ address, browser, createdAt, current, id, lastUsedAt }: ListedSession) =>
  html`<li>
  <h3>${browser ?? "Unknown browser"}${current ? html` <span class="badge">This session</span>` : undefined}</h3>
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
  return yield* Html.respond({
    base: visit.base,
    title: faults.size === 0 ? "Password and sessions" : "Problem: password and sessions",
    admin,
    signOut: view.csrf(outForm),
    status: shown.status,
    headers: shown.headers,
    body: html`
<h1>Password and sessions</h1>
<p class="lead">How you sign in at this console, and where you are signed in.</p>
${shown.done === undefined ? undefined : html`<p class="good" role="status">${shown.done}</p>`}
${Html.summary(faults)}
${showNotices()}
<section aria-labelledby="sessions">
  <h2 id="sessions">Your sessions</h2>
  <ul class="plain">${sessions.map(sessionRow(view))}</ul>
  ${sessions.length < 2 ? undefined : endButton(view, "all", "End all other sessions")}
</section>
<section aria-labelledby="change">
  <h2 id="change">Change your password</h2>
  <p>Your API keys stop working with the old password, and your other sessions end.</p>
  <form method="post" action="${visit.base}${passwordPath}">
    <input type="hidden" name="csrf" value="${view.csrf(passwordForm)}">
    <input type="text" name="username" value="${admin.email}" autocomplete="username" hidden>
    ${field(faults, { id: "current", label: "Current password", autocomplete: "current-password" })}
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
</section>`
  })
})

export const get = (visit: Visit.Visit) =>
  Visit.asAdmin(
    visit,
    path,
    (view) => show(view, { faults: Html.noFaults, done: dones.get(new URLSearchParams(visit.query).get("done") ?? "") })
  )

const done = (visit: Visit.Visit, what: string) => Html.redirect(`${visit.base}${path}?done=${what}`)

/** Changes the password; the session goes on under a new secret. */
export const changePassword = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const sent = yield* Visit.form(visit)
      if (Option.isNone(sent)) return yield* Visit.foreignForm(visit)
      const form = sent.value
      const sessions = yield* ConsoleSessions
      const passwords = yield* ConsolePasswords
      if (!sessions.verifyCsrf(view.admin.sessionId, passwordForm, form.text("csrf"))) {
        return yield* Visit.foreignForm(visit)
      }
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
      return yield* passwords.change(caller, change).pipe(
        Visit.tellRefusal,
        Effect.andThen(sessions.renew(view.admin, visit)),
        Effect.map((cookies) =>
          HttpServerResponse.mergeCookies(done(visit, "password"), Cookies.fromSetCookie(cookies))
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
export const end = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const form = yield* Visit.form(visit)
      if (Option.isNone(form)) return yield* Visit.foreignForm(visit)
      const sessions = yield* ConsoleSessions
      const id = form.value.text("id")
      const valid = sessions.verifyCsrf(view.admin.sessionId, endForm(id), form.value.text("csrf"))
      if (!valid || id !== "all" && !isUuid(id)) return yield* Visit.foreignForm(visit)
      yield* sessions.endOther(view.admin, id, visit)
      return done(visit, id === "all" ? "others" : "ended")
    }))
