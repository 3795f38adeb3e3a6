/** The plan and licences that the organization has bought, and the addresses where they are changed. */
import { Effect } from "effect"
import type { BillingLink, Subscription } from "../../../domain/organization/Billing.ts"
import { Tier } from "../../../domain/organization/Organization.ts"
import { getBillingLinks } from "../../../operations/organization/get_billing_links.ts"
import { getSubscription } from "../../../operations/organization/get_subscription.ts"
import { Frame, Html, html, type PageRequest, Serving } from "../kit/index.ts"
import * as Tabs from "./OrganizationTabs.ts"
import { newPath } from "./SupportPage.ts"

const path = Tabs.subscriptionPath

type SubscriptionFacts = typeof Subscription.Type

const billing: Readonly<Record<SubscriptionFacts["billing_state"], string>> = {
  none: "Nothing is billed",
  trial: "Trial",
  active: "Paid",
  retry: "A payment failed, and is tried again",
  lapsed: "Ended"
}

const periods = { monthly: "monthly", annual: "annually" }

const linkTexts: Readonly<Record<BillingLink["name"], string>> = {
  plans: "Plans",
  payment_method: "Payment method",
  invoices: "Invoices",
  cancel: "Cancel the subscription"
}

/** An amount as people write it; it is kept in the currency's smallest unit. */
const price = (amount: number, currency: string): string => {
  const format = new Intl.NumberFormat("en", { style: "currency", currency })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0))
}

export const licences = (bought: NonNullable<SubscriptionFacts["licences"]>): string => {
  const some = Tier.literals.filter((tier) => bought[tier] > 0)
  return some.length === 0
    ? "Every seat has the plan"
    : some.map((tier) => `${Tabs.tiers[tier]}: ${bought[tier]}`).join(", ")
}

const fact = (name: string, value: Html.Value): Html.Html => html`<dt>${name}</dt><dd>${value}</dd>`

const day = (name: string, at: Date | null): Html.Html | undefined =>
  at === null ? undefined : fact(name, Html.dayOf(at))

const facts = (bought: SubscriptionFacts, now: number): Html.Html => {
  const { amount, currency, payer_email, period, plan, trial_ends_at } = bought
  return html`<dl class="facts">
  ${fact("State", Tabs.status(bought.status))}
  ${fact("Plan", `${plan === null ? "None" : Tabs.tiers[plan]}${period === null ? "" : `, billed ${periods[period]}`}`)}
  ${fact("Licence", billed(bought))}
  ${bought.licences === null ? undefined : fact("Licences", licences(bought.licences))}
  ${fact("Seats", Tabs.seats(bought.seats))}
  ${day(trial_ends_at !== null && trial_ends_at.getTime() <= now ? "Trial ended" : "Trial ends", trial_ends_at)}
  ${day("Licensed until", bought.valid_until)}
  ${day("Paid until", bought.current_period_ends_at)}
  ${day("Cancelled, ends", bought.cancel_at)}
  ${amount === null || currency === null ? undefined : fact("Price of a period", price(amount, currency))}
  ${payer_email === null ? undefined : fact("Invoices go to", Html.named(payer_email))}
  ${day("Next invoice", bought.next_invoice_at)}
</dl>`
}

/** The way in which the licence is paid. */
export const billed = ({ billing_state, managed }: Pick<SubscriptionFacts, "billing_state" | "managed">): string =>
  managed ? billing[billing_state] : "By agreement; nothing is billed here"

/** A page of the billing, which is outside this console. */
export const billingLink = ({ name, url }: BillingLink): Html.Html =>
  html`<a href="${url}" rel="noreferrer">${linkTexts[name]}</a>`

const links = (base: string, found: ReadonlyArray<BillingLink>): Html.Html =>
  html`<section aria-labelledby="links">
  <h2 id="links">Change it</h2>
  ${
    found.length === 0
      ? html`<p>The operator of this console changes the subscription: <a href="${base}${newPath}">ask the support</a>.</p>`
      : html`<p>These pages are outside this console.</p>
  <div class="actions">${
        found.map(({ name, url }) => html`<a class="button" href="${url}" rel="noreferrer">${linkTexts[name]}</a>`)
      }</div>`
  }
</section>`

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const bought = yield* getSubscription.call({})
      const pages = getBillingLinks.roles.includes(view.admin.role) ? (yield* getBillingLinks.call({})).links : null
      return yield* Frame.page(view, {
        title: "Subscription",
        body: html`
<h1>Subscription</h1>
${Tabs.nav(visit.base, path)}
<section aria-label="Subscription">${facts(bought, view.now)}</section>
${pages === null ? undefined : links(visit.base, pages)}`
      })
    }))

export const routes = [Serving.route("GET", path, get)] as const
