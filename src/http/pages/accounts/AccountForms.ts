/** The actions on an account, as forms of its page; the operations decide whether they are done. */
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import { isActive } from "../../../domain/accounts/ProtectionStatus.ts"
import { maxRoleLabelLength } from "../../../domain/Limits.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import type { Department } from "../../../domain/people/Department.ts"
import type { Session } from "../../../domain/sessions/Session.ts"
import * as Forms from "../kit/Forms.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type * as Visit from "../kit/Visit.ts"
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

/** The text that a form's token is bound to. */
export const token = (action: AccountAction, accountId: string, about = ""): string => `${action} ${accountId} ${about}`

interface Button {
  readonly action: AccountAction
  /** The subject of the form besides the account, as the member `about`. */
  readonly about?: string
  readonly verb: string
}

const members = (about: string | undefined) => about === undefined ? {} : { about }

const button = (view: Visit.View, id: string, { about, action, verb }: Button, label?: Html.Html): Html.Html =>
  html`<form method="post" action="${view.visit.base}${pathOf(id)}/${action}">
    ${Forms.hidden(view, token(action, id, about), members(about))}
    <button>${verb}${label === undefined ? undefined : html`<span class="unseen"> ${label}</span>`}</button>
  </form>`

const confirmed = (
  view: Visit.View,
  id: string,
  { about, action, verb }: Button,
  consequence: Forms.Confirmed["consequence"],
  more: Pick<Forms.Confirmed, "label" | "fields" | "grave">
): Html.Html =>
  Forms.confirmed(view, {
    path: `${pathOf(id)}/${action}`,
    token: token(action, id, about),
    members: members(about),
    verb,
    consequence,
    ...more
  })

/** The actions on one session; sign-outs of the account are sent from `signOutsFrom` on. */
export const ofSession = (
  view: Visit.View,
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

/** Signs out every session but those that are kept. */
export const signOutOthers = (view: Visit.View, { id }: AccountDetail): Html.Html => {
  const choice = (value: string, name: string, hint: string, chosen: boolean) =>
    html`<div class="choice">
      <input type="radio" id="keep-${value}" name="keep" value="${value}"${chosen ? " checked" : ""}>
      <label for="keep-${value}"><span class="name">${name}</span> <span class="hint">${hint}</span></label>
    </div>`
  return confirmed(
    view,
    id,
    { action: "sign-out-others", verb: "Sign out all others" },
    "The devices are signed out of the account immediately, or as soon as the messenger lets the service.",
    {
      grave: true,
      fields: html`<fieldset>
      <legend>What stays signed in</legend>
      ${
        choice(
          "approved_and_baseline",
          "What is approved or was there before",
          "Usually the holder’s own devices.",
          true
        )
      }
      ${choice("approved", "Only what is approved", "Also signs out what was there before the service.", false)}
      ${choice("none", "Nothing but the service", "The holder has to sign in anew everywhere.", false)}
    </fieldset>`
    }
  )
}

/** Signing in again. */
const reconnect = (view: Visit.View, { id, phone_number }: AccountDetail): Html.Html =>
  html`<div>
    <h3>Reconnect</h3>
    <p>The service has lost its session, so nothing is watched. The messenger sends the holder a code, who reads it to you; approvals are kept.</p>
    <form method="post" action="${view.visit.base}${pathOf(id)}/reconnect">
      ${Forms.hidden(view, token("reconnect", id))}
      <div class="field">
        <label for="phone_number">New number</label>
        <p class="hint" id="phone_number-hint">Only where the holder no longer has ${
    PhoneNumber.shown(phone_number)
  }; with the country code.</p>
        <input type="text" id="phone_number" name="phone_number" inputmode="tel" maxlength="40" autocomplete="off" spellcheck="false" aria-describedby="phone_number-hint">
      </div>
      <button class="main">Send the code</button>
    </form>
  </div>`

/** The actions on the protection as a whole; with `lost`, the service has lost its session. */
export const protection = (view: Visit.View, account: AccountDetail, lost: boolean): Html.Html => {
  const { id, security_lock, status, tamper } = account
  return html`<div class="deeds">
  ${lost ? reconnect(view, account) : undefined}
  ${
    tamper?.locked_at === null || tamper === undefined ? undefined : html`<div>
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
  }
  ${
    !isActive(status) ? undefined : html`<div>
    <h3>Security lock is ${security_lock?.enabled === true ? "on" : "off"}</h3>
    <p>${
      security_lock?.enabled === true
        ? "A session that nobody approved is signed out on sight."
        : "With the lock, a session that nobody approved is signed out on sight, without waiting for a review."
    }</p>
    ${
      security_lock?.enabled === true
        ? button(view, id, { action: "security-lock", about: "off", verb: "Turn the lock off" })
        : confirmed(
          view,
          id,
          { action: "security-lock", about: "on", verb: "Turn the lock on" },
          "Every device that signs in from now on is signed out immediately, the holder’s too.",
          { grave: false }
        )
    }
  </div>`
  }
  ${
    isActive(status)
      ? html`<div>
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
      : status === "paused"
      ? html`<div>
    <h3>Resume</h3>
    <p>Protection goes on through the session that was kept.</p>
    ${button(view, id, { action: "resume", verb: "Resume protection" })}
  </div>`
      : undefined
  }
  <div>
    <h3>Offboard</h3>
    <p>The service gives the account back to its holder and signs out. The next page says what will happen.</p>
    <p><a class="button danger" href="${view.visit.base}${pathOf(id)}/offboard">Offboard …</a></p>
  </div>
</div>`
}

/** The organization's filing of the account. */
export const filing = (
  view: Visit.View,
  { department_id, id, role_label }: AccountDetail,
  departments: ReadonlyArray<Department>
): Html.Html =>
  html`<form method="post" action="${view.visit.base}${pathOf(id)}/department" class="filters">
  ${Forms.hidden(view, token("department", id))}
  <div>
    <label for="department_id">Department</label>
    <select id="department_id" name="department_id">
      ${Lists.option("", "None", department_id ?? "")}
      ${departments.map((each) => Lists.option(each.id, each.name, department_id ?? ""))}
      ${
    // One that is beyond those that are read stays chosen.
    department_id === null || departments.some((each) => each.id === department_id)
      ? undefined
      : Lists.option(department_id, "Another department", department_id)}
    </select>
  </div>
  <button>Save department</button>
</form>
<form method="post" action="${view.visit.base}${pathOf(id)}/role-label" class="filters">
  ${Forms.hidden(view, token("role-label", id))}
  <div>
    <label for="role_label">Label</label>
    <input type="text" id="role_label" name="role_label" value="${
    role_label ?? ""
  }" maxlength="${maxRoleLabelLength}" autocomplete="off">
  </div>
  <button>Save label</button>
</form>`
