/** The addresses of an account's security: the page, and what answers each of its forms. */
import { Effect, Redacted } from "effect"
import { addPasskey } from "../../../operations/security/add_passkey.ts"
import { confirmLoginEmail } from "../../../operations/security/confirm_login_email.ts"
import { confirmRecoveryEmail } from "../../../operations/security/confirm_recovery_email.ts"
import { createPairedSession } from "../../../operations/security/create_paired_session.ts"
import { removePairedSession } from "../../../operations/security/remove_paired_session.ts"
import { removePasskey } from "../../../operations/security/remove_passkey.ts"
import { removeRecoveryEmail } from "../../../operations/security/remove_recovery_email.ts"
import { removeTwoFaPassword } from "../../../operations/security/remove_two_fa_password.ts"
import { setLoginEmail } from "../../../operations/security/set_login_email.ts"
import { setRecoveryEmail } from "../../../operations/security/set_recovery_email.ts"
import { setTwoFaPassword } from "../../../operations/security/set_two_fa_password.ts"
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import { pathOf, type SecurityAction, show, token } from "./AccountSecurity.ts"

const path = "/console/accounts/:account_id/security"

/** The confirmation of each form. */
const dones: Readonly<Record<SecurityAction, string>> = {
  "set-two-fa": "The 2FA password is set, and kept by the service.",
  "remove-two-fa": "The 2FA password is removed.",
  "set-recovery-email": "The messenger has sent a code: enter it below.",
  "confirm-recovery-email": "The recovery address is set.",
  "remove-recovery-email": "The recovery address is removed.",
  "set-login-email": "The messenger has sent a code: enter it below.",
  "confirm-login-email": "The login address is set.",
  "add-passkey": "The passkey is added.",
  "remove-passkey": "The passkey is removed.",
  "create-paired-session": "The second session is signed in.",
  "remove-paired-session": "The second session is signed out."
}

const doneOf = (query: string): string | undefined => {
  const wanted = new URLSearchParams(query).get("done")
  return Object.entries(dones).find(([action]) => action === wanted)?.[1]
}

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(
    visit,
    visit.path,
    (view) => Effect.flatMap(Visit.idOf(visit, "account_id"), (id) => show(view, id, { done: doneOf(visit.query) }))
  )

/**
 * Answers a form by its operation. A code completes a change that needed the second factor, and needs none of its own.
 */
const act = <A, E, R>(
  action: SecurityAction,
  run: (account_id: string, form: SentForm.Form) => Effect.Effect<A, E, R>
) =>
  Visit.route(
    "POST",
    `${path}/${action}`,
    (visit) =>
      Effect.flatMap(
        Visit.idOf(visit, "account_id"),
        (id) =>
          Forms.submitted(visit, pathOf(id), () => token(action, id), (form, view) =>
            (action.startsWith("confirm-") ? Effect.void : StepUp.demand(view)).pipe(
              Effect.andThen(run(id, form)),
              Effect.map(() =>
                Html.redirect(`${visit.base}${pathOf(id)}?done=${action}`)
              ),
              Refused.orShow((refused) => show(view, id, { refused, action }))
            ))
      )
  )

/** The holder's password, where one was given. */
const current = (form: SentForm.Form) => {
  const password = Redacted.value(form.secret("current_password"))
  return password === "" ? {} : { current_password: password }
}

/** People write a code with a gap in its middle. */
const code = (form: SentForm.Form) => Redacted.value(form.secret("code")).replaceAll(/\s/g, "")

export const routes = [
  Visit.route("GET", path, get),
  act("set-two-fa", (account_id, form) => setTwoFaPassword.call({ account_id, ...current(form) })),
  act("remove-two-fa", (account_id) => removeTwoFaPassword.call({ account_id })),
  act(
    "set-recovery-email",
    (account_id, form) => setRecoveryEmail.call({ account_id, email: form.text("email").trim() })
  ),
  act("confirm-recovery-email", (account_id, form) => confirmRecoveryEmail.call({ account_id, code: code(form) })),
  act("remove-recovery-email", (account_id) => removeRecoveryEmail.call({ account_id })),
  act("set-login-email", (account_id, form) => setLoginEmail.call({ account_id, email: form.text("email").trim() })),
  act("confirm-login-email", (account_id, form) => confirmLoginEmail.call({ account_id, code: code(form) })),
  act("add-passkey", (account_id) => addPasskey.call({ account_id })),
  act("remove-passkey", (account_id) => removePasskey.call({ account_id })),
  act("create-paired-session", (account_id, form) => createPairedSession.call({ account_id, ...current(form) })),
  act("remove-paired-session", (account_id) => removePairedSession.call({ account_id }))
] as const
