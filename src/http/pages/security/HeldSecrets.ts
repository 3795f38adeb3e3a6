/** The 2FA passwords that the service holds: which accounts have one, and the only page that shows it. */
import { Effect } from "effect"
import { AccountId, accountName } from "../../../domain/accounts/Account.ts"
import type { HeldPassword } from "../../../ports/security/Secrets.ts"
import { find, list, reveal, type Revealed } from "../../../signin/SecretReveals.ts"
import { answer } from "../../../transport/Answer.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"

const path = "/console/secrets"
const accountPath = "/console/accounts/:account_id/secrets"
const pathOf = (id: string): `/${string}` => `/console/accounts/${id}/secrets`

/** The text that the form's token is bound to. */
const token = (id: string): string => `reveal ${id}`

const row = (view: Visit.View) => (held: HeldPassword): Html.Html =>
  html`<li>
  <h2><a href="${view.visit.base}${pathOf(held.account_id)}">${Html.named(accountName(held))}</a>${
    held.offboarded_at === null ? undefined : html` ${Statuses.badge("available")}`
  }</h2>
  <p class="hint">Set ${Html.momentOf(held.made_at)}, ${
    held.revealed_at === null ? "shown to nobody yet" : html`first shown ${Html.momentOf(held.revealed_at)}`
  }${held.erase_at === null ? "" : html`, erased ${Html.dayOf(held.erase_at)}`}.</p>
</li>`

const refused = (view: Visit.View, failure: Parameters<typeof answer>[0]) => {
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

const all = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, path, (view) =>
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

/** The account of the address. */
const idOf = (visit: Visit.Visit) => Effect.map(Visit.idOf(visit, "account_id"), (id) => AccountId.make(id))

const back = (view: Visit.View): Html.Html => html`<p class="back"><a href="${view.visit.base}${path}">Secrets</a></p>`

const locked = (lockedAt: Date | null): Html.Html | undefined =>
  lockedAt === null
    ? undefined
    : html`<p class="problem" role="alert">A takeover lock is on this account: whoever signs in is signed out at once. Release the lock first, then hand the password out.</p>`

interface Asked {
  readonly faults?: Html.Faults
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The page that asks for the console password. */
const ask = Effect.fnUntraced(function*(view: Visit.View, id: AccountId, asked: Asked = {}) {
  const { faults = Html.noFaults, headers, status } = asked
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  return yield* Effect.matchEffect(find(id), {
    onFailure: (failure) => refused(view, failure),
    onSuccess: ({ account, held }) =>
      Frame.page(view, {
        title: "2FA password",
        faults,
        status,
        headers,
        script: held ? stepUp.script : undefined,
        body: html`
${back(view)}
<h1>2FA password of ${Html.named(accountName(account))}</h1>
${locked(account.locked_at)}
${Html.summary(faults)}
${
          held
            ? html`<p class="lead">It is shown once for each time that you ask, and every time is in the journal.</p>
<form method="post" action="${view.visit.base}${pathOf(id)}" class="card">
  ${Forms.hidden(view, token(id))}
  <div class="field">
    <label for="password">Console password</label>
    <p class="hint" id="password-hint">Your own, with which you have signed in.</p>
    ${Html.fault(faults, "password")}
    <input type="text" name="username" value="${view.admin.email}" autocomplete="username" hidden>
    <input type="password" id="password" name="password" required autocomplete="current-password"${
              Html.described(faults, "password", true)
            }>
  </div>
  ${stepUp.field}
  <div class="actions"><button class="main">Show the 2FA password</button></div>
</form>`
            : html`<p class="empty">The service holds no 2FA password of this account.</p>`
        }`
      })
  })
})

const show = (view: Visit.View, { account, password }: Revealed) =>
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

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, visit.path, (view) => Effect.flatMap(idOf(visit), (id) => ask(view, id)))

const post = (visit: Visit.Visit) =>
  Effect.flatMap(
    idOf(visit),
    (id) =>
      Forms.submitted(visit, pathOf(id), () =>
        token(id), (form, view) =>
        Effect.andThen(StepUp.check(view, form), reveal(id, form.secret("password"))).pipe(
          Effect.flatMap((revealed) =>
            show(view, revealed)
          ),
          Effect.catchTag(
            "password_incorrect",
            ({ message }) => ask(view, id, { faults: new Map([["password", message]]), status: 403 })
          ),
          Effect.catchTag("too_many_attempts", ({ message, retry_after }) =>
            ask(view, id, {
              faults: new Map([["password", message]]),
              status: 429,
              headers: { "retry-after": String(retry_after) }
            })),
          Effect.catchTag(
            "StepUpRefused",
            ({ headers, message, status }) =>
              ask(view, id, { faults: new Map([[StepUp.fieldId, message]]), status, headers })
          ),
          Effect.catch((failure) => refused(view, failure))
        ))
  )

export const routes = [
  Visit.route("GET", path, all),
  Visit.route("GET", accountPath, get),
  Visit.route("POST", accountPath, post)
] as const
