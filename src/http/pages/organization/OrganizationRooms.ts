/** The settings and requests of the organization that have pages of their own: how each stands, and a link to it. */
import { Effect } from "effect"
import type { Recipients } from "../../../domain/organization/Organization.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { getArchiveRetention } from "../../../operations/archive/get_archive_retention.ts"
import { listArchiveHolds } from "../../../operations/archive/list_archive_holds.ts"
import { getBillingLinks } from "../../../operations/organization/get_billing_links.ts"
import { getNotificationRecipients } from "../../../operations/organization/get_notification_recipients.ts"
import { getSubscription } from "../../../operations/organization/get_subscription.ts"
import { listSupportRequests } from "../../../operations/organization/list_support_requests.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Tabs from "./OrganizationTabs.ts"
import * as SubscriptionPage from "./SubscriptionPage.ts"

interface Room {
  readonly title: string
  readonly to: string
  readonly state: Html.Value
}

const recipients: Readonly<Record<Recipients, string>> = {
  owner: "Alerts of the organization go to the owner alone.",
  owner_superadmins: "Alerts of the organization go to the owner and every superadmin."
}

const subscription = Effect.fnUntraced(function*({ admin }: AdminPage) {
  const bought = yield* getSubscription.call({})
  const links = getBillingLinks.roles.includes(admin.role) ? (yield* getBillingLinks.call({})).links : []
  const room: Room = {
    title: "Subscription",
    to: Tabs.subscriptionPath,
    state: html`${bought.licences === null ? "Every seat has the plan" : SubscriptionPage.licences(bought.licences)}. ${
      SubscriptionPage.billed(bought)
    }.${bought.valid_until === null ? undefined : html` Licensed until ${Html.dayOf(bought.valid_until)}.`}${
      links.map((link) => html` ${SubscriptionPage.billingLink(link)}`)
    }`
  }
  return room
})

const support = Effect.fnUntraced(function*() {
  const { data, has_more } = yield* listSupportRequests.call({ limit: 50 })
  const open = data.filter(({ state }) => state === "open").length
  const answered = data.filter(({ state }) => state === "answered").length
  const room: Room = {
    title: "Support",
    to: Tabs.supportPath,
    state: data.length === 0
      ? "Nothing was asked yet."
      : `${open} ${open === 1 ? "request is" : "requests are"} open, ${answered} answered${
        has_more ? ", of the newest 50" : ""
      }.`
  }
  return room
})

const mails = Effect.map(getNotificationRecipients.call({}), ({ recipients: goTo }): Room => ({
  title: "Who is notified",
  to: Tabs.mailsPath,
  state: recipients[goTo]
}))

const retention = Effect.map(getArchiveRetention.call({}), ({ begins_at, days }): Room => ({
  title: "Retention",
  to: `${Tabs.archiveCleanupsPath}#retention`,
  state: days === null
    ? "What is archived is kept for ever."
    : html`What was sent more than ${days} days ago is deleted${
      begins_at === null ? undefined : html`, from ${Html.dayOf(begins_at)} on`
    }.`
}))

const holds = Effect.map(listArchiveHolds.call({ limit: 100 }), ({ data }): Room => {
  const placed = data.filter(({ released_at }) => released_at === null).length
  return {
    title: "Legal holds",
    to: Tabs.archiveHoldsPath,
    state: placed === 0
      ? "Nothing is held."
      : `${placed} ${placed === 1 ? "hold keeps" : "holds keep"} what it names from every deletion.`
  }
})

const row = (base: string) => ({ state, title, to }: Room): Html.Html =>
  html`<dt><a href="${base}${to}">${title}</a></dt><dd>${state}</dd>`

/** The section, with what the role may see. */
export const section = Effect.fnUntraced(function*(view: AdminPage) {
  const { readsArchive, role } = view.admin
  const rooms = [
    yield* subscription(view),
    yield* mails,
    yield* support(),
    ...(readsArchive && superadmins.includes(role) ? [yield* retention, yield* holds] : [])
  ]
  return html`<section aria-labelledby="rooms">
  <h2 id="rooms">How it is run</h2>
  <dl class="facts">${rooms.map(row(view.visit.base))}</dl>
</section>`
})
