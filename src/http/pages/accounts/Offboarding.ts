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
import { type AdminPage, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccountForms from "./AccountForms.ts"

const path = "/console/accounts/:account_id/offboard"

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

const form = (view: AdminPage, id: string, stepUp: StepUp.Part): Html.Html =>
  Forms.open(
    view,
    { path: Forms.addressOf(path, id), class: "card" },
    html`${stepUp.field}
  <div class="actions">
    <button class="danger">Offboard the account</button>
    <a class="button" href="${view.visit.base}${AccountForms.pathOf(id)}">Cancel</a>
  </div>`
  )

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const { name, status } = yield* getAccount.call({ account_id: id })
  const isOver = status === "available"
  const profile = isOver
    ? null
    : Option.getOrNull(yield* Effect.option(getAccountMessengerProfile.call({ account_id: id })))
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  return yield* Frame.page(view, {
    title: `Offboard ${name}`,
    outcome,
    script: isOver ? undefined : stepUp.script,
    body: html`
<p class="back"><a href="${view.visit.base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Offboard ${Html.named(name)}</h1>
${Form.notice(outcome)}
${
      isOver ? html`<p class="empty">The account is offboarded.</p>` : html`<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences(profile).map((text) => html`<li>${text}</li>`)}</ul>
</section>
${form(view, id, stepUp)}`
    }`
  })
})

const page = Form.page({ path, show, only: [protectors, "The owner, superadmins and admins offboard accounts."] })

export const routes = page.routes([
  page.form({
    name: "",
    factor: "field",
    submit: ({ id }) => offboardAccount.call({ account_id: id }),
    next: ({ action }, { id }) => `${AccountForms.pathOf(id)}?done=${action}`
  })
])
