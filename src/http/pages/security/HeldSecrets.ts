/** The 2FA passwords that the service holds: which accounts have one, and the only page that shows it. */
import { Effect } from "effect"
import { AccountId, accountName } from "../../../domain/accounts/Account.ts"
import { PasswordIncorrect, TooManyAttempts } from "../../../domain/Failure.ts"
import type { HeldPassword } from "../../../ports/security/Secrets.ts"
import { find, list, reveal, type RevealedSecret } from "../../../signin/SecretReveals.ts"
import { answer } from "../../../transport/Answer.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type AdminPage, Fields, Form, Forms, Frame, Html, html, type PageRequest, Serving } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"

const path = "/console/secrets"
const accountPath = "/console/accounts/:account_id/secrets"
const pathOf = (id: string): `/${string}` => `/console/accounts/${id}/secrets`

const row = (view: AdminPage) => (held: HeldPassword): Html.Html =>
  html`<li>
  <h2><a href="${view.visit.base}${pathOf(held.account_id)}">${Html.named(accountName(held))}</a>${
    held.offboarded_at === null ? undefined : html` ${Statuses.badge("available")}`
  }</h2>
  <p class="hint">Set ${Html.momentOf(held.made_at)}, ${
    held.revealed_at === null ? "shown to nobody yet" : html`first shown ${Html.momentOf(held.revealed_at)}`
  }${held.erase_at === null ? "" : html`, erased ${Html.dayOf(held.erase_at)}`}.</p>
</li>`

const refused = (view: AdminPage, failure: Parameters<typeof answer>[0]) => {
  const { body, headers, status } = answer(failure)
  return Effect.andThen(
    RequestLog.noteFailure(body.error.code),
    Frame.page(view, {
      title: "Secrets",
      status,
      headers,
      body: html`<h1>Secrets</h1><p class="problem" role="alert">${body.error.message}</p>`
    })
  )
}

const all = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.matchEffect(list, {
      onFailure: (failure) => refused(view, failure),
      onSuccess: (held) =>
        Frame.page(view, {
          title: "Secrets",
          wide: true,
          body: html`
<h1>Secrets</h1>
<p class="lead">The accounts whose 2FA password the service has set and keeps. The owner and superadmins read one, to hand it to the account’s holder; every reading is in the journal.</p>
${
            held.length === 0
              ? html`<p class="empty">The service holds no password.</p>`
              : html`<ul class="plain">${held.map(row(view))}</ul>`
          }`
        })
    }))

const back = (view: AdminPage): Html.Html => html`<p class="back"><a href="${view.visit.base}${path}">Secrets</a></p>`

const locked = (lockedAt: Date | null): Html.Html | undefined =>
  lockedAt === null
    ? undefined
    : html`<p class="problem" role="alert">A takeover lock is on this account: whoever signs in is signed out at once. Release the lock first, then hand the password out.</p>`

const form = (view: AdminPage, id: string, faults: Html.Faults, stepUp: StepUp.Part): Html.Html =>
  html`<p class="lead">It is shown once for each time that you ask, and every time is in the journal.</p>
${
    Forms.open(
      view,
      { path: pathOf(id), class: "card" },
      html`${Fields.password(faults, { hint: "Your own, with which you have signed in.", username: view.admin.email })}
  ${stepUp.field}
  <div class="actions"><button class="main">Show the 2FA password</button></div>`
    )
  }`

/** The page that asks for the console password. */
const ask = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const { faults } = outcome
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  return yield* Effect.matchEffect(find(AccountId.make(id)), {
    onFailure: (failure) => refused(view, failure),
    onSuccess: ({ account, held }) =>
      Frame.page(view, {
        title: "2FA password",
        outcome,
        script: held ? stepUp.script : undefined,
        body: html`
${back(view)}
<h1>2FA password of ${Html.named(accountName(account))}</h1>
${locked(account.locked_at)}
${Form.notice(outcome)}
${
          held
            ? form(view, id, faults, stepUp)
            : html`<p class="empty">The service holds no 2FA password of this account.</p>`
        }`
      })
  })
})

const showOnce = (view: AdminPage, { account, password }: RevealedSecret) =>
  Frame.page(view, {
    title: "2FA password",
    body: html`
${back(view)}
<h1>2FA password of ${Html.named(accountName(account))}</h1>
${locked(account.locked_at)}
<p class="good" role="status">This page shows it this once. Hand it to the account’s holder in a way that nobody else reads.</p>
<section aria-label="The password">
  ${Html.secretOnce(password, "password")}
</section>
<p><a class="button main" href="${view.visit.base}${path}">Done</a></p>`
  })

/** Shows the password; a refusal of that of the console is for the form, any other has a page of its own. */
const showHeld = ({ form, id, view }: Form.Sent) =>
  Effect.matchEffect(reveal(AccountId.make(id), form.secret("password")), {
    onSuccess: (revealed) => showOnce(view, revealed),
    onFailure: (failure) =>
      failure instanceof PasswordIncorrect || failure instanceof TooManyAttempts
        ? Effect.fail(failure)
        : refused(view, failure)
  })

const page = Form.page({
  path: accountPath,
  show: ask,
  refusals: { password_incorrect: ["password"], too_many_attempts: ["password"] }
})

export const routes = [
  Serving.route("GET", path, all),
  ...page.routes([
    page.form({
      name: "",
      factor: "field",
      submit: showHeld,
      next: (answer) => answer
    })
  ])
] as const
