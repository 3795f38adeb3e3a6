/** The actions on an account, as forms of its page; the operations decide whether they are done. */
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import { isActive } from "../../../domain/accounts/ProtectionStatus.ts"
import { maxRoleLabelLength } from "../../../domain/Limits.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import type { Department } from "../../../domain/people/Department.ts"
import type { Session } from "../../../domain/sessions/Session.ts"
import { type AdminPage, Fields, Forms, Html, html } from "../kit/index.ts"
import * as Devices from "./SessionWords.ts"

/** The forms, each by the end of its address. */
export type AccountAction =
  | "approve-session"
  | "sign-out-session"
  | "sign-out-others"
  | "release-takeover-lock"
  | "security-lock"
  | "reconnect"
  | "pause"
  | "resume"
  | "department"
  | "role-label"

export const pathOf = (accountId: string): `/${string}` => `/console/accounts/${accountId}`

interface Action {
  readonly action: AccountAction
  /** The subject of the form besides the account, as the member `about`. */
  readonly about?: string
  readonly verb: string
}

const opened = (id: string, action: AccountAction, about?: string): Forms.FormOpening => ({
  path: `${pathOf(id)}/${action}`,
  about: about === undefined ? undefined : ["about", about]
})

const button = (view: AdminPage, id: string, { about, action, verb }: Action, label?: Html.Html): Html.Html =>
  Forms.open(
    view,
    opened(id, action, about),
    html`<button>${verb}${label === undefined ? undefined : html`<span class="unseen"> ${label}</span>`}</button>`
  )

const confirmed = (
  view: AdminPage,
  id: string,
  { about, action, verb }: Action,
  consequence: Forms.ConfirmedForm["consequence"],
  more: Pick<Forms.ConfirmedForm, "label" | "fields" | "grave">
): Html.Html => Forms.confirmed(view, { ...opened(id, action, about), verb, consequence, ...more })

/** The actions on one session; sign-outs of the account are sent from `signOutsFrom` on. */
export const ofSession = (
  view: AdminPage,
  account: AccountDetail,
  session: Session,
  signOutsFrom: Date | undefined
): Html.Html | undefined => {
  const { approved, current, id, review_deadline, service_session, sign_out_queued } = session
  if (current || service_session || !isActive(account.status)) return undefined
  const label = Devices.device(session)
  return html`<div class="actions">
    ${
    approved && review_deadline === null && !sign_out_queued
      ? undefined
      : button(view, account.id, { action: "approve-session", about: id, verb: "Approve" }, label)
  }
    ${
    sign_out_queued ? undefined : confirmed(
      view,
      account.id,
      { action: "sign-out-session", about: id, verb: "Sign out" },
      Devices.wait(session, signOutsFrom, view.now) ??
        "The device is signed out of the account immediately. The person who uses it has to sign in again.",
      { label, grave: true }
    )
  }
  </div>`
}

const kept = [
  ["approved_and_baseline", "What is approved or was there before", "Usually the holder’s own devices."],
  ["approved", "Only what is approved", "Also signs out what was there before the service."],
  ["none", "Nothing but the service", "The holder has to sign in anew everywhere."]
] as const

/** Signs out every session but those that are kept. */
export const signOutOthers = (view: AdminPage, { id }: AccountDetail): Html.Html =>
  confirmed(
    view,
    id,
    { action: "sign-out-others", verb: "Sign out all others" },
    "The devices are signed out of the account immediately, or as soon as the messenger lets the service.",
    {
      grave: true,
      fields: html`<fieldset>
      <legend>What stays signed in</legend>
      ${
        kept.map(([value, label, hint], index) =>
          Fields.choice({ type: "radio", id: `keep-${value}`, name: "keep", value, label, hint, checked: index === 0 })
        )
      }
    </fieldset>`
    }
  )

const newNumber = (number: string): Html.Html =>
  Fields.input(Html.noFaults, {
    name: "phone_number",
    label: "New number",
    hint: html`Only where the holder no longer has ${PhoneNumber.shown(number)}; with the country code.`
  }, { inputmode: "tel", maxlength: 40, ...Fields.verbatim })

/** Signing in again. */
const reconnect = (view: AdminPage, { id, phone_number }: AccountDetail): Html.Html =>
  html`<div>
    <h3>Reconnect</h3>
    <p>The service has lost its session, so nothing is watched. The messenger sends the holder a code, who reads it to you; approvals are kept.</p>
    ${
    Forms.open(
      view,
      opened(id, "reconnect"),
      html`${newNumber(phone_number)}
      <button class="main">Send the code</button>`
    )
  }
  </div>`

const takeoverLock = (view: AdminPage, { id }: AccountDetail): Html.Html =>
  html`<div>
    <h3>Takeover lock</h3>
    <p>Whoever signs in is signed out at once, the holder too. Release it when the holder has the account back, and only then hand out its two-factor password.</p>
    ${
    confirmed(
      view,
      id,
      { action: "release-takeover-lock", verb: "Release the lock" },
      "From then on a new session is treated like any other: it has to be approved.",
      { grave: false }
    )
  }
  </div>`

const lockOn = (view: AdminPage, id: string): Html.Html =>
  html`<div>
    <h3>Security lock is on</h3>
    <p>A session that nobody approved is signed out on sight.</p>
    ${button(view, id, { action: "security-lock", about: "off", verb: "Turn the lock off" })}
  </div>`

const lockOff = (view: AdminPage, id: string): Html.Html =>
  html`<div>
    <h3>Security lock is off</h3>
    <p>With the lock, a session that nobody approved is signed out on sight, without waiting for a review.</p>
    ${
    confirmed(
      view,
      id,
      { action: "security-lock", about: "on", verb: "Turn the lock on" },
      "Every device that signs in from now on is signed out immediately, the holder’s too.",
      { grave: false }
    )
  }
  </div>`

const pause = (view: AdminPage, id: string): Html.Html =>
  html`<div>
    <h3>Pause</h3>
    <p>While protection is paused nothing is watched and nothing is signed out.</p>
    ${
    confirmed(
      view,
      id,
      { action: "pause", verb: "Pause protection" },
      "Sessions that wait for a review stay signed in. The account keeps its licence.",
      { grave: true }
    )
  }
  </div>`

const resume = (view: AdminPage, id: string): Html.Html =>
  html`<div>
    <h3>Resume</h3>
    <p>Protection goes on through the session that was kept.</p>
    ${button(view, id, { action: "resume", verb: "Resume protection" })}
  </div>`

/** The actions on the protection as a whole; with `lost`, the service has lost its session. */
export const protection = (view: AdminPage, account: AccountDetail, lost: boolean): Html.Html => {
  const { id, security_lock, status, tamper } = account
  const locked = tamper !== undefined && tamper.locked_at !== null
  return html`<div class="deeds">
  ${lost ? reconnect(view, account) : undefined}
  ${locked ? takeoverLock(view, account) : undefined}
  ${isActive(status) ? security_lock?.enabled === true ? lockOn(view, id) : lockOff(view, id) : undefined}
  ${isActive(status) ? pause(view, id) : status === "paused" ? resume(view, id) : undefined}
  <div>
    <h3>Offboard</h3>
    <p>The service gives the account back to its holder and signs out. The next page says what will happen.</p>
    <p><a class="button danger" href="${view.visit.base}${pathOf(id)}/offboard">Offboard …</a></p>
  </div>
</div>`
}

/** The organization's filing of the account. */
export const filing = (
  view: AdminPage,
  { department_id, id, role_label }: AccountDetail,
  departments: ReadonlyArray<Department>
): Html.Html => {
  const all = [["", "None"] as const, ...departments.map((each) => [each.id, each.name] as const)]
  // One that is beyond those that are read stays chosen.
  const beyond = department_id === null || departments.some((each) => each.id === department_id)
    ? []
    : [[department_id, "Another department"] as const]
  const department = Fields.filter("department_id", "Department", [...all, ...beyond], department_id ?? "")
  return html`${
    Forms.open(
      view,
      { ...opened(id, "department"), class: "filters" },
      html`${department}
  <button>Save department</button>`
    )
  }
${
    Forms.open(
      view,
      { ...opened(id, "role-label"), class: "filters" },
      html`<div>
    <label for="role_label">Label</label>
    <input type="text" id="role_label" name="role_label" value="${
        role_label ?? ""
      }" maxlength="${maxRoleLabelLength}" autocomplete="off">
  </div>
  <button>Save label</button>`
    )
  }`
}
