/** The addresses of an account's security: the page, and what answers each of its forms. */
import { Redacted } from "effect"
import { protectors } from "../../../domain/people/Access.ts"
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
import { Form, type SentForm } from "../kit/index.ts"
import { show } from "./AccountSecurity.ts"

const page = Form.page({
  path: "/console/accounts/:account_id/security",
  show,
  only: [protectors, "The owner, superadmins and admins see and change how accounts are secured."],
  refusals: {
    code: "Enter the code from the mail: 4 to 12 digits.",
    current_password: "Enter the password of the account’s holder.",
    email: "Enter an address such as ada@example.com."
  }
})

/** The holder's password, where one was given. */
const current = (form: SentForm.Form) => {
  const password = Redacted.value(form.secret("current_password"))
  return password === "" ? {} : { current_password: password }
}

const emailOf = (form: SentForm.Form): string => form.text("email").trim()

/** People write a code with a gap in its middle. */
const codeOf = (form: SentForm.Form): string => Redacted.value(form.secret("code")).replaceAll(/\s/g, "")

/** A code completes a change that needed the second factor, and needs none of its own. */
export const routes = page.routes([
  page.form({
    name: "set-two-fa",
    factor: "link",
    submit: ({ form, id }) => setTwoFaPassword.call({ account_id: id, ...current(form) }),
    done: "The 2FA password is set, and kept by the service."
  }),
  page.form({
    name: "remove-two-fa",
    factor: "link",
    submit: ({ id }) => removeTwoFaPassword.call({ account_id: id }),
    done: "The 2FA password is removed."
  }),
  page.form({
    name: "set-recovery-email",
    factor: "link",
    submit: ({ form, id }) => setRecoveryEmail.call({ account_id: id, email: emailOf(form) }),
    done: "The messenger has sent a code: enter it below."
  }),
  page.form({
    name: "confirm-recovery-email",
    submit: ({ form, id }) => confirmRecoveryEmail.call({ account_id: id, code: codeOf(form) }),
    done: "The recovery address is set."
  }),
  page.form({
    name: "remove-recovery-email",
    factor: "link",
    submit: ({ id }) => removeRecoveryEmail.call({ account_id: id }),
    done: "The recovery address is removed."
  }),
  page.form({
    name: "set-login-email",
    factor: "link",
    submit: ({ form, id }) => setLoginEmail.call({ account_id: id, email: emailOf(form) }),
    done: "The messenger has sent a code: enter it below."
  }),
  page.form({
    name: "confirm-login-email",
    submit: ({ form, id }) => confirmLoginEmail.call({ account_id: id, code: codeOf(form) }),
    done: "The login address is set."
  }),
  page.form({
    name: "add-passkey",
    factor: "link",
    submit: ({ id }) => addPasskey.call({ account_id: id }),
    done: "The passkey is added."
  }),
  page.form({
    name: "remove-passkey",
    factor: "link",
    submit: ({ id }) => removePasskey.call({ account_id: id }),
    done: "The passkey is removed."
  }),
  page.form({
    name: "create-paired-session",
    factor: "link",
    submit: ({ form, id }) => createPairedSession.call({ account_id: id, ...current(form) }),
    done: "The second session is signed in."
  }),
  page.form({
    name: "remove-paired-session",
    factor: "link",
    submit: ({ id }) => removePairedSession.call({ account_id: id }),
    done: "The second session is signed out."
  })
])
