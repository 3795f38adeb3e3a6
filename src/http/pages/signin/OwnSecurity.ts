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
import { FieldRefused, Fields, Form, Forms, Frame, Html, html, Notices, SentForm } from "../kit/index.ts"
import type { AdminPage } from "../kit/index.ts"
import { path as factorPath } from "./FactorForm.ts"
import * as Factors from "./FactorsPage.ts"
import * as Identity from "./IdentityPage.ts"
import * as StepUp from "./StepUp.ts"

const path = "/console/security"
const passwordPath = `${path}/password` as const
const endPath = `${path}/sessions/end` as const

const endButton = (view: AdminPage, id: string, text: string): Html.Html =>
  Forms.open(
    view,
    { path: endPath, about: ["id", id], class: "after" },
    html`<button class="danger">${text}</button>`
  )

const sessionRow = (view: AdminPage) => ({ address, browser, createdAt, current, id, lastUsedAt }: ListedSession) =>
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

const disconnect = (checked: boolean): Html.Html =>
  Fields.choice({
    type: "checkbox",
    id: "disconnect",
    name: "disconnect",
    value: "yes",
    label: "Disconnect my applications",
    hint: "They have to be connected anew. Leave this ticked if somebody else may know your password.",
    checked
  })

const newPassword = {
  name: "new",
  label: "New password",
  hint: `At least ${minPasswordLength} characters; a few words that do not belong together are good.`,
  autocomplete: "new-password"
} as const

const repeated = { name: "repeated", label: "New password again", autocomplete: "new-password" } as const

const passwordForm = (view: AdminPage, { faults, sent }: Form.Outcome, stepUp: StepUp.Part): Html.Html =>
  Forms.open(
    view,
    { path: passwordPath },
    html`${Fields.password(faults, { name: "current", label: "Current password", username: view.admin.email })}
    ${stepUp.field}
    ${Fields.password(faults, newPassword)}
    ${Fields.password(faults, repeated)}
    ${disconnect(sent === undefined || sent.text("disconnect") === "yes")}
    <button class="main after">Change password</button>`
  )

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { admin, visit } = view
  const sessions = yield* (yield* ConsoleSessions).list(admin)
  const showNotices = yield* Notices.make(view)
  const factors = yield* (yield* SecondFactors).state(admin)
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  const identity = yield* Identity.section(view)
  return yield* Frame.page(view, {
    title: "Password and sessions",
    wide: true,
    outcome,
    script: stepUp.script,
    body: html`
<h1>Password and sessions</h1>
<p class="lead">How you sign in at this console, and where you are signed in.</p>
${Form.notice(outcome)}
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
  ${passwordForm(view, outcome, stepUp)}
</section>
</div>
</div>`
  })
})

const unfit = (field: "new" | "repeated") => (message: string) =>
  Effect.fail(new FieldRefused({ field, message, status: 400, code: "password_unfit" }))

/** Changes the password; the session goes on under a new secret. */
const changePassword = Effect.fnUntraced(function*({ form, view: { admin, visit } }: Form.Sent) {
  const sessions = yield* ConsoleSessions
  const passwords = yield* ConsolePasswords
  const change = {
    current: form.secret("current"),
    next: form.secret("new"),
    disconnect: form.text("disconnect") === "yes",
    browser: sessions.browser(visit.cookies, visit.site)
  }
  yield* Effect.catchTag(
    passwords.change(yield* Caller, change),
    "PasswordUnfit",
    ({ message }) => unfit("new")(message)
  )
  const cookies = yield* sessions.renew(admin, visit)
  const done = Html.redirect(`${visit.base}${path}?done=password`)
  return HttpServerResponse.mergeCookies(done, Cookies.fromSetCookie(cookies))
})

const changeIfSame = (sent: Form.Sent) =>
  sent.form.text("new") === sent.form.text("repeated")
    ? Effect.andThen(StepUp.check(sent.view, sent.form), changePassword(sent))
    : unfit("repeated")("This is not the same as the new password.")

/** Ends one other session, or all others. */
const end = Effect.fnUntraced(function*({ form, view }: Form.Sent) {
  const id = form.text("id")
  if (id !== "all" && !isUuid(id)) return yield* SentForm.foreign(view.visit)
  yield* (yield* ConsoleSessions).endOther(view.admin, id, view.visit)
  return `${path}?done=${id === "all" ? "others" : "ended"}`
})

const page = Form.page({
  path,
  show,
  refusals: {
    password_incorrect: ["current", "This is not your current password."],
    too_many_attempts: ["current"],
    [StepUp.refusedCode]: [StepUp.fieldId]
  },
  strict: true
})

export const routes = page.routes([
  page.form({
    name: "password",
    submit: changeIfSame,
    next: (answer) => answer,
    done: "Your password is changed. Keys made before no longer work, and your other sessions have ended."
  }),
  page.form({
    name: "sessions/end",
    about: "id",
    submit: end,
    next: (answer) => answer,
    done: { ended: "The session has ended.", others: "All other sessions have ended." }
  })
])
