/** The user at the organization's identity provider who is known as the admin, as the admin sees and changes it. */
import { Effect } from "effect"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import { ProviderSignIn } from "../../../ports/signin/ProviderSignIn.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Visit from "../kit/Visit.ts"
import * as Provider from "./ProviderPages.ts"
import * as StepUp from "./StepUp.ts"

const path = "/console/security/identity-provider"
const linkPath = `${path}/link`
const unlinkPath = `${path}/unlink`

/** The texts that the tokens of the page's forms are bound to. */
const linkForm = "link identity"
const unlinkForm = "unlink identity"

const dones: ReadonlyMap<string, string> = new Map([
  ["linked", "You are linked: you can sign in by your identity provider."],
  ["unlinked", "The link is removed: nobody signs in as you by the identity provider any more."]
])

interface Shown {
  readonly faults: Html.Faults
  readonly done?: string | undefined
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const passwordField = (faults: Html.Faults): Html.Html =>
  html`
  <div class="field">
    <label for="password">Current password</label>
    ${Html.fault(faults, "password")}
    <input type="password" id="password" name="password" required autocomplete="current-password"${
    Html.described(faults, "password", false)
  }>
  </div>`

interface Confirming {
  readonly faults: Html.Faults
  readonly stepUp: StepUp.Part
  readonly action: string
  readonly token: string
  readonly button: Html.Html
}

const form = (view: Visit.View, { action, button, faults, stepUp, token }: Confirming): Html.Html =>
  html`<form method="post" action="${view.visit.base}${action}" class="card">
  ${Forms.hidden(view, token)}
  <input type="text" name="username" value="${view.admin.email}" autocomplete="username" hidden>
  ${passwordField(faults)}
  ${stepUp.field}
  ${button}
</form>`

const show = Effect.fnUntraced(function*(view: Visit.View, { done, faults, headers, status }: Shown) {
  const state = yield* (yield* ProviderSignIn).state(view.admin)
  if (state === null) return Html.redirect(`${view.visit.base}/console/security`)
  const { issuer, link } = state
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  const linking = { faults, stepUp, action: linkPath, token: linkForm }
  const unlinking = { faults, stepUp, action: unlinkPath, token: unlinkForm }
  return yield* Frame.page(view, {
    title: "Identity provider",
    faults,
    status,
    headers,
    script: stepUp.script,
    body: html`
<h1>Identity provider</h1>
<p class="lead">Your organization’s own provider is <strong>${new URL(issuer).host}</strong>.</p>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${Html.summary(faults)}
${
      link === null
        ? html`<p>Nobody there is linked to you. Link yourself, and you sign in there in place of giving your password.</p>
${form(view, { ...linking, button: html`<button class="main">Link myself at the provider</button>` })}`
        : html`<dl>
  <dt>The provider calls you</dt><dd>${Html.named(link.subject)}</dd>
  <dt>Linked</dt><dd>${Html.momentOf(link.linked_at)}</dd>
</dl>
${form(view, { ...unlinking, button: html`<button class="danger">Remove the link</button>` })}`
    }`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(
    visit,
    path,
    (view) => show(view, { faults: Html.noFaults, done: dones.get(new URLSearchParams(visit.query).get("done") ?? "") })
  )

/** Runs what an admin confirms by their password and the second factor that they have. */
const confirmed = <E, R>(
  visit: Visit.Visit,
  token: string,
  run: (view: Visit.View) => Effect.Effect<Effect.Success<ReturnType<typeof show>>, E, R>
) =>
  Forms.submitted(
    visit,
    path,
    () => token,
    (sent, view) =>
      Effect.flatMap(ConsoleSessions, (sessions) =>
        StepUp.check(view, sent).pipe(
          Effect.andThen(sessions.verifyPassword(view.admin, sent.secret("password"), visit.ip)),
          Visit.showRefusal,
          Effect.as(null),
          Effect.catchTag("StepUpRefused", ({ headers, message, status }) =>
            show(view, { faults: new Map([[StepUp.fieldId, message]]), status, headers })),
          Effect.catchTag("password_incorrect", () =>
            show(view, { faults: new Map([["password", "This is not your current password."]]), status: 403 })),
          Effect.catchTag("too_many_attempts", ({ message, retry_after }) =>
            show(view, {
              faults: new Map([["password", message]]),
              status: 429,
              headers: { "retry-after": String(retry_after) }
            })),
          Effect.flatMap((refused) =>
            refused === null ? run(view) : Effect.succeed(refused)
          )
        ))
  )

/** Redirects to the provider, which sends the admin back with an identity. */
const link = (visit: Visit.Visit) =>
  confirmed(visit, linkForm, (view) =>
    Effect.gen(function*() {
      const { admin } = view
      const going = { organization: admin.organizationId, admin, hint: null, returnTo: path }
      return yield* Provider.onward(visit, yield* (yield* ProviderSignIn).go(going, visit))
    }).pipe(
      Effect.catchTag("ProviderAway", ({ host }) => Provider.away(visit, host)),
      Effect.catchTag("NoProvider", () => Effect.succeed(Html.redirect(`${visit.base}/console/security`)))
    ))

const unlink = (visit: Visit.Visit) =>
  confirmed(visit, unlinkForm, ({ admin }) =>
    Effect.gen(function*() {
      yield* (yield* ProviderSignIn).unlink(admin, visit)
      return Html.redirect(`${visit.base}${path}?done=unlinked`)
    }))

/** The identity provider's section on the page of the admin's password and sessions. */
export const section = Effect.fnUntraced(function*({ admin, visit }: Visit.View) {
  const state = yield* (yield* ProviderSignIn).state(admin)
  return state === null ? undefined : html`<section aria-labelledby="identity">
  <h2 id="identity">Identity provider</h2>
  <p>${
    state.link === null
      ? "Nobody at your organization’s provider is linked to you."
      : html`Your organization’s provider calls you ${Html.named(state.link.subject)}.`
  } <a href="${visit.base}${path}">Identity provider</a></p>
</section>`
})

export const routes = [
  Visit.route("GET", path, get),
  Visit.route("POST", linkPath, link),
  Visit.route("POST", unlinkPath, unlink)
] as const
