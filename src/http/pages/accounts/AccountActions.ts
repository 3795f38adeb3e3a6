/** The addresses of an account's page: the page, and what answers each of its forms. */
import { Effect } from "effect"
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
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as AccountLogin from "../logins/AccountLogin.ts"
import { type AccountAction, pathOf, token } from "./AccountForms.ts"
import * as Account from "./AccountPage.ts"

const path = "/console/accounts/:account_id"

/** The success messages, by the name that the operation gives what was done. */
const dones: ReadonlyMap<string, string> = new Map([
  ["session_approved", "The session is approved and stays signed in."],
  ["session_signed_out", "The session is signed out."],
  ["session_sign_out_queued", "The sign-out is queued: it is done as soon as the messenger lets the service."],
  ["sessions_signed_out", "The other sessions are signed out."],
  ["takeover_lock_released", "The takeover lock is released: the holder can sign in again."],
  ["security_lock_enabled", "The security lock is on."],
  ["security_lock_disabled", "The security lock is off."],
  ["paused", "Protection is paused."],
  ["resumed", "Protection is on again."],
  ["offboarded", "The account is offboarded: the service has signed out, and its seat is free."],
  [
    "offboarded_two_fa_held",
    "The account is offboarded, but the service’s 2FA password may still be set on it: the owner and superadmins read it under Secrets, to hand it to the holder."
  ],
  ["department_set", "The department is saved."],
  ["role_label_set", "The label is saved."],
  ["account_connected", "The account is connected and watched from now on."],
  ["account_reconnected", "The account is connected again."]
])

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(
    visit,
    visit.path,
    (view) =>
      Effect.flatMap(Visit.idOf(visit, "account_id"), (id) => {
        const done = new URLSearchParams(visit.query).get("done") ?? ""
        return Account.show(view, id, { done: dones.get(done), connected: done === "account_connected" })
      })
  )

/** Answers a form by its operation; what the operation refuses is shown on the page, in its words. */
const act = <E, R>(
  action: AccountAction,
  run: (
    accountId: string,
    form: SentForm.Form
  ) => Effect.Effect<{ readonly action: string } | { readonly to: string }, E, R>
) =>
  Visit.route(
    "POST",
    `${path}/${action}`,
    (visit) =>
      Effect.flatMap(Visit.idOf(visit, "account_id"), (id) =>
        Forms.submitted(visit, pathOf(id), (form) =>
          token(action, id, form.text("about")), (form, view) =>
          run(id, form).pipe(
            Effect.map((done) =>
              Html.redirect(`${visit.base}${"to" in done ? done.to : `${pathOf(id)}?done=${done.action}`}`)
            ),
            Refused.orShow((refused) =>
              Account.show(view, id, refused)
            )
          )))
  )

const isKeep = (text: string): text is KeptSessions => KeptSessions.literals.some((keep) => keep === text)

export const routes = [
  Visit.route("GET", path, get),
  act("approve-session", (account_id, form) => approveSession.call({ account_id, session_id: form.text("about") })),
  act("sign-out-session", (account_id, form) => signOutSession.call({ account_id, session_id: form.text("about") })),
  act("sign-out-others", (account_id, form) => {
    const keep = form.text("keep")
    return signOutOtherSessions.call({ account_id, ...(isKeep(keep) ? { keep } : {}) })
  }),
  act("release-takeover-lock", (account_id) => releaseTakeoverLock.call({ account_id })),
  act(
    "security-lock",
    (account_id, form) => setSecurityLock.call({ account_id, enabled: form.text("about") === "on" })
  ),
  act("reconnect", (account_id, form) => {
    const number = typed(form.text("phone_number"))
    return Effect.map(
      startAccountRelogin.call({ account_id, ...(number === "" ? {} : { phone_number: number }) }),
      ({ id }) => ({ to: AccountLogin.pathOf(id) })
    )
  }),
  act("pause", (account_id) => pauseProtection.call({ account_id })),
  act("resume", (account_id) => resumeProtection.call({ account_id })),
  act("department", (account_id, form) => {
    const department = form.text("department_id")
    return Effect.as(
      setAccountDepartment.call({ account_id, department_id: department === "" ? null : department }),
      { action: "department_set" }
    )
  }),
  act(
    "role-label",
    (account_id, form) =>
      Effect.as(setAccountRoleLabel.call({ account_id, role_label: form.text("role_label").trim() }), {
        action: "role_label_set"
      })
  )
] as const
