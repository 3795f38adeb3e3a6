/** The organization at a glance, and what a takeover of one of its accounts does. */
import { Effect } from "effect"
import type { Organization } from "../../../domain/organization/Organization.ts"
import { getOrganization } from "../../../operations/organization/get_organization.ts"
import { setTakeoverLockdown } from "../../../operations/security/set_takeover_lockdown.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as ArchiveDeletion from "../archive/ArchiveDeletion.ts"
import { type AdminPage, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Rooms from "./OrganizationRooms.ts"
import * as Tabs from "./OrganizationTabs.ts"

const { path } = Tabs
const lockdownPath = `${path}/takeover-lockdown` as const

const phases: Readonly<Record<Organization["archive"]["phase"], string>> = {
  active: "In use",
  readonly: "Read only",
  closed: "Closed",
  deleting: "Being deleted",
  held: "On legal hold",
  deleted: "Deleted",
  empty: "Empty"
}

const archive = ({ key_set, phase, plan, writable }: Organization["archive"]): string => {
  const saving = writable
    ? "ready for new messages"
    : !plan
    ? "the plan has none"
    : key_set
    ? "nothing is saved"
    : "nothing is saved before its password is set"
  return `${phases[phase]}; ${saving}`
}

const about = (base: string, organization: Organization): Html.Html =>
  html`<section aria-labelledby="about">
  <h2 id="about">About</h2>
  <dl class="facts">
    <dt>Id</dt><dd><code>${organization.id}</code> <span class="hint">Admins enter it to sign in.</span></dd>
    <dt>State</dt><dd>${Tabs.status(organization.status)}</dd>
    <dt>Protection</dt><dd>${
    organization.protection_active ? Statuses.mark("good", "Licensed") : Statuses.mark("danger", "Not licensed")
  }</dd>
    <dt>Plan</dt><dd>${
    organization.plan.plan === null ? "None" : Tabs.tiers[organization.plan.plan]
  }. <a href="${base}${Tabs.subscriptionPath}">Subscription</a></dd>
    <dt>Seats</dt><dd>${Tabs.seats(organization.seats)}</dd>
    <dt>Archive</dt><dd>${archive(organization.archive)}</dd>
  </dl>
</section>`

const lockdownChange = (view: AdminPage, enabled: boolean): Html.Html => {
  const opened = { path: lockdownPath, about: ["enabled", enabled ? "off" : "on"] } as const
  return enabled
    ? Forms.confirmed(view, {
      ...opened,
      verb: "Turn the lockdown off",
      grave: true,
      consequence:
        "A takeover that is detected from then on is only reported: the attacker stays signed in until an admin acts."
    })
    : Forms.open(view, opened, html`<button class="main">Turn the lockdown on</button>`)
}

const lockdown = (view: AdminPage, enabled: boolean, note: Html.Html | undefined): Html.Html =>
  html`<section aria-labelledby="lockdown">
  <div class="head"><h2 id="lockdown">Takeover lockdown</h2> ${
    enabled ? Statuses.mark("good", "On") : Statuses.mark("caution", "Off")
  }</div>
  <p>${
    enabled
      ? "When a takeover of an account is detected, its other sessions are signed out, approved ones too."
      : "When a takeover of an account is detected, it is only reported: nothing is signed out because of it."
  }</p>
  ${
    setTakeoverLockdown.roles.includes(view.admin.role)
      ? html`${note}${lockdownChange(view, enabled)}`
      : html`<p class="hint">The owner and superadmins change this.</p>`
  }
</section>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base } = view.visit
  const organization = yield* getOrganization.call({})
  const rooms = yield* Rooms.section(view)
  const note = yield* StepUp.note(view, path, "Changing the lockdown")
  return yield* Frame.page(view, {
    title: "Organization",
    outcome,
    body: html`
<h1>${Html.named(organization.name)}</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${about(base, organization)}
${rooms}
${lockdown(view, organization.tamper_lockdown_enabled, note)}
${ArchiveDeletion.section(view, organization.archive)}`
  })
})

const page = Form.page({
  path,
  show,
  done: { archive_deletion_started: "The archive is being deleted: nothing of it can be read any more." }
})

export const routes = page.routes([
  page.form({
    name: "takeover-lockdown",
    about: "enabled",
    factor: "link",
    submit: ({ form }) => setTakeoverLockdown.call({ enabled: form.text("enabled") === "on" }),
    key: (_, { form }) => form.text("enabled") === "on" ? "on" : "off",
    done: {
      on: "The takeover lockdown is on.",
      off: "The takeover lockdown is off: takeovers are only reported."
    }
  })
])
