/**
 * Ending the protection of an account: the page first shows what will happen, by the account's state on the messenger.
 */
import { Duration, Effect, Option } from "effect"
import type { MessengerProfile } from "../../../domain/accounts/MessengerProfile.ts"
import { unrevealedKept } from "../../../domain/Limits.ts"
import { protectors } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { offboardAccount } from "../../../operations/security/offboard_account.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Problem from "../kit/Problem.ts"
import * as Refused from "../kit/RefusedForms.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccountForms from "./AccountForms.ts"

const path = "/console/accounts/:account_id/offboard"

const pathOf = (id: string): `/${string}` => `${AccountForms.pathOf(id)}/offboard`

/** The text that the form's token is bound to. */
const token = (id: string): string => `offboard ${id}`

const unrevealedDays = Duration.toDays(unrevealedKept)

/** The consequences for the account's security settings on the messenger; null where it does not report them. */
const onMessenger = (profile: typeof MessengerProfile.Type | null): ReadonlyArray<string> => {
  if (profile === null || profile.two_fa_present === null) {
    return [
      `The messenger does not say now how the account is secured. A 2FA password that the service keeps and cannot remove stays on the account: the owner and superadmins read it under Secrets for ${unrevealedDays} days, to hand it to the holder.`
    ]
  }
  const { passkey_managed, two_fa_managed, two_fa_present } = profile
  return [
    two_fa_managed
      ? "The 2FA password that the service keeps is removed, and the recovery address with it, so that the holder is not locked out. Ask the holder to set one of their own."
      : two_fa_present
      ? "The 2FA password is the holder’s own, and stays."
      : "The account has no 2FA password. Ask the holder to set one.",
    ...(passkey_managed ? ["The passkey of the service is removed; those of the holder stay."] : [])
  ]
}

const consequences = (profile: typeof MessengerProfile.Type | null): ReadonlyArray<string> => [
  ...onMessenger(profile),
  "The service signs out of the account. Nobody watches it from then on, and nobody is signed out: devices that wait for a review stay signed in.",
  "Its seat is free for another account. Approvals of its sessions are forgotten; logins into it and changes of its addresses that are under way end.",
  "What was archived stays. The account comes back, with it, when it is connected again."
]

const show = Effect.fnUntraced(function*(view: Visit.View, id: string, refused?: Refused.RefusedForm) {
  const { base } = view.visit
  if (!protectors.includes(view.admin.role)) {
    return yield* Problem.notForRole(view.visit, "The owner, superadmins and admins offboard accounts.")
  }
  const { name, status } = yield* getAccount.call({ account_id: id })
  const isOver = status === "available"
  const profile = isOver
    ? null
    : Option.getOrNull(yield* Effect.option(getAccountMessengerProfile.call({ account_id: id })))
  const faults: Html.Faults = refused?.code === StepUp.refusedCode
    ? new Map([[StepUp.fieldId, refused.problem]])
    : Html.noFaults
  const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
  return yield* Frame.page(view, {
    title: `${refused === undefined ? "Offboard" : "Problem: offboard"} ${name}`,
    faults,
    status: refused?.status,
    headers: refused?.headers,
    script: isOver ? undefined : stepUp.script,
    body: html`
<p class="back"><a href="${base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Offboard ${Html.named(name)}</h1>
${faults.size > 0 ? Html.summary(faults) : Refused.box(refused?.problem)}
${
      isOver ? html`<p class="empty">The account is offboarded.</p>` : html`<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences(profile).map((text) => html`<li>${text}</li>`)}</ul>
</section>
<form method="post" action="${base}${pathOf(id)}" class="card">
  ${Forms.hidden(view, token(id))}
  ${stepUp.field}
  <div class="actions">
    <button class="danger">Offboard the account</button>
    <a class="button" href="${base}${AccountForms.pathOf(id)}">Cancel</a>
  </div>
</form>`
    }`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, visit.path, (view) => Effect.flatMap(Visit.idOf(visit, "account_id"), (id) => show(view, id)))

const post = (visit: Visit.Visit) =>
  Effect.flatMap(
    Visit.idOf(visit, "account_id"),
    (id) =>
      Forms.submitted(visit, pathOf(id), () =>
        token(id), (form, view) =>
        Effect.andThen(StepUp.check(view, form), offboardAccount.call({ account_id: id })).pipe(
          Effect.map(({ action }) =>
            Html.redirect(`${visit.base}${AccountForms.pathOf(id)}?done=${action}`)
          ),
          Refused.orShow((refused) => show(view, id, refused))
        ))
  )

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
