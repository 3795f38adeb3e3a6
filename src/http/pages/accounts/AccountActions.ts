/** The addresses of an account's page: the page, and what answers each of its forms. */
import { typed } from "../../../domain/logins/PhoneNumber.ts"
import { KeptSessions } from "../../../domain/sessions/SessionReview.ts"
import { pauseProtection } from "../../../operations/accounts/pause_protection.ts"
import { resumeProtection } from "../../../operations/accounts/resume_protection.ts"
import { setAccountRoleLabel } from "../../../operations/accounts/set_account_role_label.ts"
import { startAccountRelogin } from "../../../operations/logins/start_account_relogin.ts"
import { setAccountDepartment } from "../../../operations/people/set_account_department.ts"
import { releaseTakeoverLock } from "../../../operations/security/release_takeover_lock.ts"
import { setSecurityLock } from "../../../operations/security/set_security_lock.ts"
import { approveSession } from "../../../operations/sessions/approve_session.ts"
import { signOutOtherSessions } from "../../../operations/sessions/sign_out_other_sessions.ts"
import { signOutSession } from "../../../operations/sessions/sign_out_session.ts"
import * as AccountArchive from "../archive/AccountArchive.ts"
import * as Form from "../kit/Form.ts"
import * as AccountLogin from "../logins/AccountLogin.ts"
import * as Account from "./AccountPage.ts"

const page = Form.page({
  path: "/console/accounts/:account_id",
  show: Account.show,
  done: {
    offboarded: "The account is offboarded: the service has signed out, and its seat is free.",
    offboarded_two_fa_held:
      "The account is offboarded, but the service’s 2FA password may still be set on it: the owner and superadmins read it under Secrets, to hand it to the holder.",
    account_connected: "The account is connected and watched from now on.",
    account_reconnected: "The account is connected again."
  }
})

/** The operations name what they have done. */
const key = ({ action }: { readonly action: string }): string => action

const keepOf = (text: string) => KeptSessions.literals.find((keep) => keep === text)

export const routes = page.routes([
  page.form({
    name: "approve-session",
    about: "about",
    submit: ({ form, id }) => approveSession.call({ account_id: id, session_id: form.text("about") }),
    key,
    done: { session_approved: "The session is approved and stays signed in." }
  }),
  page.form({
    name: "sign-out-session",
    about: "about",
    submit: ({ form, id }) => signOutSession.call({ account_id: id, session_id: form.text("about") }),
    key,
    done: {
      session_signed_out: "The session is signed out.",
      session_sign_out_queued: "The sign-out is queued: it is done as soon as the messenger lets the service."
    }
  }),
  page.form({
    name: "sign-out-others",
    submit: ({ form, id }) => {
      const keep = keepOf(form.text("keep"))
      return signOutOtherSessions.call({ account_id: id, ...(keep === undefined ? {} : { keep }) })
    },
    key,
    done: { sessions_signed_out: "The other sessions are signed out." }
  }),
  page.form({
    name: "release-takeover-lock",
    submit: ({ id }) => releaseTakeoverLock.call({ account_id: id }),
    key,
    done: { takeover_lock_released: "The takeover lock is released: the holder can sign in again." }
  }),
  page.form({
    name: "security-lock",
    about: "about",
    submit: ({ form, id }) => setSecurityLock.call({ account_id: id, enabled: form.text("about") === "on" }),
    key,
    done: {
      security_lock_enabled: "The security lock is on.",
      security_lock_disabled: "The security lock is off."
    }
  }),
  page.form({
    name: "reconnect",
    submit: ({ form, id }) => {
      const number = typed(form.text("phone_number"))
      return startAccountRelogin.call({ account_id: id, ...(number === "" ? {} : { phone_number: number }) })
    },
    next: ({ id }) => AccountLogin.pathOf(id)
  }),
  page.form(AccountArchive.form),
  page.form({
    name: "pause",
    submit: ({ id }) => pauseProtection.call({ account_id: id }),
    key,
    done: { paused: "Protection is paused." }
  }),
  page.form({
    name: "resume",
    submit: ({ id }) => resumeProtection.call({ account_id: id }),
    key,
    done: { resumed: "Protection is on again." }
  }),
  page.form({
    name: "department",
    submit: ({ form, id }) => {
      const department = form.text("department_id")
      return setAccountDepartment.call({ account_id: id, department_id: department === "" ? null : department })
    },
    key: () => "department_set",
    done: { department_set: "The department is saved." }
  }),
  page.form({
    name: "role-label",
    submit: ({ form, id }) => setAccountRoleLabel.call({ account_id: id, role_label: form.text("role_label").trim() }),
    key: () => "role_label_set",
    done: { role_label_set: "The label is saved." }
  })
])
