/** One admin: what they may do, and what an owner or superadmin changes about it. */
import { Effect } from "effect"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxChosen } from "../../../domain/oauth/OAuth.ts"
import { canAccessEveryAccount } from "../../../domain/people/Access.ts"
import type { Admin } from "../../../domain/people/Admin.ts"
import * as Rules from "../../../domain/people/AdminRules.ts"
import * as Authorize from "../../../oauth/authorize/Authorize.ts"
import { getAdmin } from "../../../operations/people/get_admin.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Granting from "./AccessFields.ts"
import * as Refusals from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

/** The actions on an admin, by the last part of the form's path; the token of each names the admin too. */
export type Act = "access" | "disable" | "enable" | "ownership" | "remove" | "resend-invitation" | "role"

export const pathOf = (id: string): `/${string}` => `${Words.path}/${id}`
export const actPath = (id: string, act: Act): `/${string}` => `${pathOf(id)}/${act}`
export const tokenOf = (id: string, act: Act): string => `${act} of admin ${id}`

/** Success messages where mail is sent; elsewhere the link is shown. */
const mailed: ReadonlyMap<string, string> = new Map([
  ["invited", "The invitation is made. A mail brings them the link."],
  ["resend-invitation", "A new invitation is made. A mail brings them the link; the one before has stopped."]
])

const dones: ReadonlyMap<string, string> = new Map([
  ["role", "The role is changed."],
  ["access", "The access is changed."],
  ["disable", "The admin is disabled: nothing works in their name."],
  ["enable", "The admin is enabled again."]
])

/** The parts of the page besides the admin: after a form that was refused, its faults and what was in it. */
export interface AdminFormResult extends Refusals.FormRefusal {
  /** The form that was sent. */
  readonly act?: Act
  readonly draft?: Granting.AccessDraft
}

interface Form {
  readonly act: Act
  readonly title: string
  readonly text: string
  readonly fields?: Html.Html
  readonly button: string
  readonly danger?: boolean
  /** True if the console password is asked for again. */
  readonly password?: boolean
}

/** The page of one admin, as the caller sees it. */
const made = (view: Visit.View, target: Admin, shown: AdminFormResult) => {
  const { admin, visit } = view
  const acting: Rules.Facts = { id: admin.adminId, role: admin.role, disabled_at: null, joined_at: new Date(view.now) }
  const may = (refused: unknown): boolean => refused === null
  const faultsOf = (act: Act): Html.Faults => shown.act === act ? shown.faults : Html.noFaults

  /** A form of its own section, which is open where it was refused; ids are there once on the page. */
  const form = ({ act, button, danger = false, fields, password = false, text, title }: Form): Html.Html => {
    const faults = faultsOf(act)
    const { password: wrong } = Object.fromEntries(faults)
    return html`
<details class="folded"${shown.act === act ? " open" : ""} id="act-${act}">
  <summary>${title} …</summary>
  <form method="post" action="${visit.base}${actPath(target.id, act)}" class="confirm">
    ${Forms.hidden(view, tokenOf(target.id, act))}
    <p>${text}</p>
    ${fields}
    ${
      password
        ? html`<div class="field">
      <label for="password-${act}">Your console password</label>
      ${wrong === undefined ? undefined : html`<p class="fault" id="password-${act}-fault">${wrong}</p>`}
      <input type="text" name="username" value="${admin.email}" autocomplete="username" hidden>
      <input type="password" id="password-${act}" name="password" required autocomplete="current-password"${
          wrong === undefined ? undefined : html` aria-invalid="true" aria-describedby="password-${act}-fault"`
        }>
    </div>`
        : undefined
    }
    <button class="${danger ? "danger" : "main"}" name="decision" value="do">${button}</button>
  </form>
</details>`
  }
  return { acting, form, may, faultsOf }
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
const access = Effect.fnUntraced(function*(view: Visit.View, target: Admin, shown: AdminFormResult) {
  const { account_ids, archive, department_ids } = target.access
  if (account_ids.length > maxChosen) {
    return html`<p>${account_ids.length} accounts are granted one by one. More than ${maxChosen} are changed through the API: <code>set_admin_access</code>.</p>`
  }
  const draft = shown.draft ?? { ...Granting.empty, accounts: account_ids, departments: department_ids, archive }
  const choices = yield* Authorize.choices(view.admin, Granting.wanted(draft))
  return Granting.field(choices, {
    draft,
    faults: shown.act === "access" ? shown.faults : Html.noFaults,
    action: `${view.visit.base}${actPath(target.id, "access")}`,
    archive: target.role === "admin",
    next: "password-access"
  })
})

export const show = Effect.fnUntraced(function*(view: Visit.View, id: string, shown: AdminFormResult) {
  if (!isUuid(id)) return yield* new ResourceMissing({ param: "admin_id" })
  const { base, query } = view.visit
  const target = yield* getAdmin.call({ admin_id: id })
  const { acting, faultsOf, form, may } = made(view, target, shown)
  const name = Words.called(target)
  const refused = Rules.lessens(acting, target)
  const grants = !canAccessEveryAccount(target.role) && may(Rules.actsOn(acting, target))
  const mails = (yield* Outbox).available
  const wanted = new URLSearchParams(query).get("done") ?? ""
  const done = dones.get(wanted) ?? (mails ? mailed.get(wanted) : undefined)
  const roleFields = Granting.roleField(view.admin.role, target.role, faultsOf("role"))
  const accessFields = grants ? yield* access(view, target, shown) : undefined
  const note = yield* StepUp.note(view, pathOf(id))
  return yield* Frame.page(view, {
    title: target.name ?? target.email,
    wide: true,
    faults: shown.faults,
    status: shown.status,
    headers: shown.headers,
    body: html`
<p class="back"><a href="${base}${Words.path}">People</a></p>
<div class="head"><h1>${name}</h1> ${Words.badge(target)}</div>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${note}
${
      Html.summary(
        new Map([...shown.faults].map(([field, text]) =>
          [field === "main" ? "changes" : field === "password" ? `password-${shown.act}` : field, text] as const
        ))
      )
    }
${Refusals.searchedNote(shown)}
<div class="columns even">
<div><section aria-label="About">${facts(target)}
  <p><a href="${base}/console/journal?admin=${target.id}">What they did, in the journal</a></p></section></div>
<div><section aria-labelledby="changes">
  <h2 id="changes">Changes</h2>
  ${
      refused === null
        ? undefined
        : html`<p class="hint">${
          target.mine ? "Nobody changes their own role, or disables or removes themselves." : refused.message
        }</p>`
    }
  ${
      may(Rules.reinvites(acting, target)) && target.role !== "owner"
        ? form({
          act: "resend-invitation",
          title: mails ? "Send the invitation again" : "Make another link for the invitation",
          text: mails
            ? "A new link is made, good for 7 days, and the one before stops."
            : "A new link is made, good for 7 days, and shown to you this once; the one before stops.",
          button: mails ? "Send again" : "Make the link",
          password: !mails
        })
        : undefined
    }
  ${
      refused === null
        ? form({
          act: "role",
          title: "Change the role",
          text: "Keys and applications follow at the next request. What is granted is kept.",
          fields: roleFields,
          button: "Change role",
          password: true
        })
        : undefined
    }
  ${
      grants
        ? form({
          act: "access",
          title: "Change what they can access",
          text: "What is ticked is granted instead of what was.",
          ...(accessFields === undefined ? {} : { fields: accessFields }),
          button: "Change access",
          password: true
        })
        : undefined
    }
  ${
      may(Rules.enables(acting, target))
        ? form({
          act: "enable",
          title: "Enable again",
          text: "Keys and applications that have not ended meanwhile work again.",
          button: "Enable",
          password: true
        })
        : undefined
    }
  ${
      may(Rules.disables(acting, target))
        ? form({
          act: "disable",
          title: "Disable",
          text: "Nothing works in their name until they are enabled again. Nothing is deleted.",
          button: "Disable",
          danger: true
        })
        : undefined
    }
  ${
      refused === null
        ? form({
          act: "remove",
          title: "Remove",
          text: "Keys, applications, sessions and grants end for good. The address may be invited again.",
          button: "Remove",
          danger: true,
          password: true
        })
        : undefined
    }
  ${
      may(Rules.transfers(acting, target)) && !target.mine
        ? form({
          act: "ownership",
          title: "Make them the owner",
          text: "You become a superadmin, and they alone can give the ownership back. Both of you are mailed.",
          button: "Transfer the ownership",
          danger: true,
          password: true
        })
        : undefined
    }
</section></div>
</div>`
  })
})

export const get = (view: Visit.View) =>
  Refusals.administered(view, show(view, view.visit.params["admin_id"] ?? "", Refusals.none))
