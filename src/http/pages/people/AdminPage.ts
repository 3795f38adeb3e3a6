/** One admin: what they may do, and what an owner or superadmin changes about it. */
import { Effect } from "effect"
import { maxChosen } from "../../../domain/oauth/OAuth.ts"
import { canAccessEveryAccount } from "../../../domain/people/Access.ts"
import type { Admin } from "../../../domain/people/Admin.ts"
import * as Rules from "../../../domain/people/AdminRules.ts"
import * as Authorize from "../../../oauth/authorize/Authorize.ts"
import { getAdmin } from "../../../operations/people/get_admin.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { type AdminPage, Fields, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccessFields from "./AccessFields.ts"
import * as Words from "./PeopleWords.ts"

/** The actions on an admin, by the last part of the form's path. */
type Action = "access" | "disable" | "enable" | "ownership" | "remove" | "resend-invitation" | "role"

export const pathOf = (id: string): `/${string}` => `${Words.path}/${id}`
const actionPath = (id: string, action: Action) => `${pathOf(id)}/${action}` as const

interface Change {
  readonly action: Action
  readonly title: string
  readonly text: string
  readonly fields?: Html.Html | undefined
  readonly button: string
  readonly danger?: boolean
  /** True if the console password is asked for again. */
  readonly password?: boolean
}

const faultsOf = (action: Action, { faults, form }: Form.Outcome): Html.Faults =>
  form === action ? faults : Html.noFaults

/** A form of its own section, which is open where it was refused; ids are there once on the page. */
const section = (view: AdminPage, id: string, outcome: Form.Outcome, change: Change): Html.Html => {
  const { action, button, danger = false, fields, password = false, text, title } = change
  const asked = { id: `password-${action}`, label: "Your console password", username: view.admin.email }
  return html`
<details class="folded"${outcome.form === action ? " open" : ""} id="act-${action}">
  <summary>${title} …</summary>
  ${
    Forms.open(
      view,
      { path: actionPath(id, action), class: "confirm" },
      html`<p>${text}</p>
    ${fields}
    ${password ? Fields.password(faultsOf(action, outcome), { ...asked, name: "password" }) : undefined}
    <button class="${danger ? "danger" : "main"}" name="decision" value="do">${button}</button>`
    )
  }
</details>`
}

const facts = (admin: Admin): Html.Html =>
  html`<dl class="facts">
  <dt>Address</dt><dd>${admin.email}</dd>
  <dt>Role</dt><dd>${Words.roles[admin.role][0]} <span class="hint">${Words.roles[admin.role][1]}</span></dd>
  <dt>Access</dt><dd>${Words.accessOf(admin)}</dd>
  ${
    admin.status === "invited" && admin.invitation_expires_at !== null
      ? html`<dt>Invitation</dt><dd>until ${Html.momentOf(admin.invitation_expires_at)}</dd>`
      : undefined
  }
  ${admin.joined_at === null ? undefined : html`<dt>Joined</dt><dd>${Html.dayOf(admin.joined_at)}</dd>`}
  ${admin.disabled_at === null ? undefined : html`<dt>Disabled</dt><dd>${Html.momentOf(admin.disabled_at)}</dd>`}
  <dt>Last active</dt><dd>${admin.last_active_at === null ? "Never" : Html.momentOf(admin.last_active_at)}</dd>
  ${admin.credentials === null ? undefined : html`<dt>Keys and applications</dt><dd>${admin.credentials}</dd>`}
</dl>`

/** The form of what is granted, with the searches in it. */
const access = Effect.fnUntraced(function*(view: AdminPage, target: Admin, outcome: Form.Outcome) {
  const { account_ids, archive, department_ids } = target.access
  if (account_ids.length > maxChosen) {
    return html`<p>${account_ids.length} accounts are granted one by one. More than ${maxChosen} are changed through the API: <code>set_admin_access</code>.</p>`
  }
  const draft = outcome.form === "access" && outcome.sent !== undefined
    ? AccessFields.read(outcome.sent)
    : { ...AccessFields.empty, accounts: account_ids, departments: department_ids, archive }
  const choices = yield* Authorize.choices(view.admin, AccessFields.wanted(draft))
  return AccessFields.field(choices, {
    draft,
    faults: faultsOf("access", outcome),
    action: `${view.visit.base}${actionPath(target.id, "access")}`,
    archive: target.role === "admin",
    next: "password-access"
  })
})

const invitation = (mails: boolean): Change => ({
  action: "resend-invitation",
  title: mails ? "Send the invitation again" : "Make another link for the invitation",
  text: mails
    ? "A new link is made, good for 7 days, and the one before stops."
    : "A new link is made, good for 7 days, and shown to you this once; the one before stops.",
  button: mails ? "Send again" : "Make the link",
  password: !mails
})

const enable: Change = {
  action: "enable",
  title: "Enable again",
  text: "Keys and applications that have not ended meanwhile work again.",
  button: "Enable",
  password: true
}

const disable: Change = {
  action: "disable",
  title: "Disable",
  text: "Nothing works in their name until they are enabled again. Nothing is deleted.",
  button: "Disable",
  danger: true
}

const remove: Change = {
  action: "remove",
  title: "Remove",
  text: "Keys, applications, sessions and grants end for good. The address may be invited again.",
  button: "Remove",
  danger: true,
  password: true
}

const ownership: Change = {
  action: "ownership",
  title: "Make them the owner",
  text: "You become a superadmin, and they alone can give the ownership back. Both of you are mailed.",
  button: "Transfer the ownership",
  danger: true,
  password: true
}

const role = (fields: Html.Html): Change => ({
  action: "role",
  title: "Change the role",
  text: "Keys and applications follow at the next request. What is granted is kept.",
  fields,
  button: "Change role",
  password: true
})

const granting = (fields: Html.Html): Change => ({
  action: "access",
  title: "Change what they can access",
  text: "What is ticked is granted instead of what was.",
  fields,
  button: "Change access",
  password: true
})

/** The changes that the caller may make. */
const changesOf = Effect.fnUntraced(function*(view: AdminPage, target: Admin, outcome: Form.Outcome) {
  const { admin } = view
  const mails = (yield* Outbox).available
  const acting: Rules.Facts = { id: admin.adminId, role: admin.role, disabled_at: null, joined_at: new Date(view.now) }
  const refused = Rules.lessens(acting, target)
  const grants = !canAccessEveryAccount(target.role) && Rules.actsOn(acting, target) === null
  const all: ReadonlyArray<readonly [isAllowed: boolean, change: Change]> = [
    [Rules.reinvites(acting, target) === null && target.role !== "owner", invitation(mails)],
    [refused === null, role(AccessFields.roleField(admin.role, target.role, faultsOf("role", outcome)))],
    ...(grants ? [[true, granting(yield* access(view, target, outcome))] as const] : []),
    [Rules.enables(acting, target) === null, enable],
    [Rules.disables(acting, target) === null, disable],
    [refused === null, remove],
    [Rules.transfers(acting, target) === null && !target.mine, ownership]
  ]
  return html`
  ${
    refused === null
      ? undefined
      : html`<p class="hint">${
        target.mine ? "Nobody changes their own role, or disables or removes themselves." : refused.message
      }</p>`
  }
  ${all.map(([isAllowed, change]) => isAllowed ? section(view, target.id, outcome, change) : undefined)}`
})

/** Success messages where mail is sent; elsewhere the link is shown. */
export const mailed = {
  invited: "The invitation is made. A mail brings them the link.",
  resent: "A new invitation is made. A mail brings them the link; the one before has stopped."
}

/** Several forms have a password: the ids of the fields end with the form's name. */
const worded = (outcome: Form.Outcome, mails: boolean): Form.Outcome => ({
  ...outcome,
  done: mails || !Object.values(mailed).some((text) => text === outcome.done) ? outcome.done : undefined,
  faults: new Map([...outcome.faults].map(([id, text]) => [id === "password" ? `${id}-${outcome.form}` : id, text]))
})

export const show = Effect.fnUntraced(function*(view: AdminPage, id: string, sent: Form.Outcome) {
  const { base } = view.visit
  const outcome = worded(sent, (yield* Outbox).available)
  const target = yield* getAdmin.call({ admin_id: id })
  const changes = yield* changesOf(view, target, outcome)
  const note = yield* StepUp.note(view, pathOf(id))
  return yield* Frame.page(view, {
    title: target.name ?? target.email,
    wide: true,
    outcome,
    body: html`
<p class="back"><a href="${base}${Words.path}">People</a></p>
<div class="head"><h1>${Words.called(target)}</h1> ${Words.badge(target)}</div>
${Form.success(outcome)}
${note}
${Form.problems(outcome)}
${Form.searchedNote(outcome)}
<div class="columns even">
<div><section aria-label="About">${facts(target)}
  <p><a href="${base}/console/journal?admin=${target.id}">What they did, in the journal</a></p></section></div>
<div><section aria-labelledby="changes">
  <h2 id="changes">Changes</h2>
  ${changes}
</section></div>
</div>`
  })
})
