/** The user at the organization's identity provider who is known as the admin, as the admin sees and changes it. */
import { Effect } from "effect"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import { ProviderSignIn } from "../../../ports/signin/ProviderSignIn.ts"
import { type AdminPage, Fields, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import * as Provider from "./ProviderPages.ts"
import * as StepUp from "./StepUp.ts"

const path = "/console/security/identity-provider"
const linkPath = `${path}/link` as const
const unlinkPath = `${path}/unlink` as const

const form = (
  view: AdminPage,
  formPath: `/${string}`,
  { faults }: Form.Outcome,
  stepUp: StepUp.Part,
  button: Html.Html
): Html.Html =>
  Forms.open(
    view,
    { path: formPath, class: "card" },
    html`${Fields.password(faults, { label: "Current password", username: view.admin.email })}
  ${stepUp.field}
  ${button}`
  )

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const state = yield* (yield* ProviderSignIn).state(view.admin)
  if (state === null) return Html.redirect(`${view.visit.base}/console/security`)
  const { issuer, link } = state
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  return yield* Frame.page(view, {
    title: "Identity provider",
    outcome,
    script: stepUp.script,
    body: html`
<h1>Identity provider</h1>
<p class="lead">Your organization’s own provider is <strong>${new URL(issuer).host}</strong>.</p>
${Form.notice(outcome)}
${
      link === null
        ? html`<p>Nobody there is linked to you. Link yourself, and you sign in there in place of giving your password.</p>
${form(view, linkPath, outcome, stepUp, html`<button class="main">Link myself at the provider</button>`)}`
        : html`<dl>
  <dt>The provider calls you</dt><dd>${Html.named(link.subject)}</dd>
  <dt>Linked</dt><dd>${Html.momentOf(link.linked_at)}</dd>
</dl>
${form(view, unlinkPath, outcome, stepUp, html`<button class="danger">Remove the link</button>`)}`
    }`
  })
})

/** The identity provider's section on the page of the admin's password and sessions. */
export const section = Effect.fnUntraced(function*({ admin, visit }: AdminPage) {
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

/** Fails unless the form has the admin's password. */
const checkPassword = ({ form, view }: Form.Sent) =>
  Effect.flatMap(
    ConsoleSessions,
    (sessions) => sessions.verifyPassword(view.admin, form.secret("password"), view.visit.ip)
  )

/** Leads to the provider, which sends the admin back with an identity. */
const link = ({ admin, visit }: AdminPage) =>
  Effect.gen(function*() {
    const going = { organization: admin.organizationId, admin, hint: null, returnTo: path }
    return yield* Provider.onward(visit, yield* (yield* ProviderSignIn).go(going, visit))
  }).pipe(
    Effect.catchTag("ProviderAway", ({ host }) => Provider.away(visit, host)),
    Effect.catchTag("NoProvider", () => Effect.succeed(Html.redirect(`${visit.base}/console/security`)))
  )

const page = Form.page({
  path,
  show,
  refusals: {
    password_incorrect: ["password", "This is not your current password."],
    too_many_attempts: ["password"]
  },
  strict: true,
  done: { linked: "You are linked: you can sign in by your identity provider." }
})

export const routes = page.routes([
  page.form({
    name: "link",
    factor: "field",
    submit: (sent) => Effect.andThen(checkPassword(sent), link(sent.view)),
    next: (answer) => answer
  }),
  page.form({
    name: "unlink",
    factor: "field",
    submit: (sent) =>
      Effect.andThen(
        checkPassword(sent),
        Effect.flatMap(ProviderSignIn, (provider) => provider.unlink(sent.view.admin, sent.view.visit))
      ),
    next: () => `${path}?done=unlinked`,
    done: { unlinked: "The link is removed: nobody signs in as you by the identity provider any more." }
  })
])
