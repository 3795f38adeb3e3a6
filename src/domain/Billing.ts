/** The organization's subscription, and where people go for what is not done here. */
import { Schema } from "effect"
import { reachesEveryAccount, type Role } from "./Access.ts"
import { Organization, organization, type OrganizationFacts, OrganizationStatus } from "./Organization.ts"
import { Count, described, Kind, OptionalTimestamp } from "./Wire.ts"

const { fields } = Organization
const plan = fields.plan.fields

export const Subscription = Schema.Struct({
  object: Kind("subscription"),
  status: described(OrganizationStatus, "`active`, `pending` until it is licensed, or `suspended`."),
  billing_state: plan.billing_state,
  managed: plan.managed,
  plan: plan.plan,
  period: plan.period,
  licences: plan.licences,
  seats: fields.seats,
  trial_ends_at: described(OptionalTimestamp, "When the trial ends or has ended; null without one."),
  current_period_ends_at: described(OptionalTimestamp, "When the period ends that is paid for."),
  valid_until: fields.valid_until,
  cancel_at: described(
    OptionalTimestamp,
    "When the subscription ends because it was cancelled; null while it goes on."
  ),
  amount: described(
    Schema.NullOr(Count),
    "What a period costs, in the currency's smallest unit; null where it is not known, and for the roles admin and archive, as what follows."
  ),
  currency: described(Schema.NullOr(Schema.String), "The currency by its ISO 4217 code."),
  payer_email: described(Schema.NullOr(Schema.String), "Where invoices go."),
  next_invoice_at: described(OptionalTimestamp, "When the next invoice is made.")
}).annotate({ identifier: "subscription" })

export const linkNames = ["plans", "payment_method", "invoices", "cancel"] as const

export const BillingLinks = Schema.Struct({
  object: Kind("billing_links"),
  links: described(
    Schema.Array(Schema.Struct({
      name: described(Schema.Literals(linkNames), "What the page is for."),
      url: described(Schema.String, "Its address.")
    })),
    "The pages that the service knows; none where it was told none."
  )
}).annotate({ identifier: "billing_links" })
export type BillingLink = typeof BillingLinks.Type["links"][number]

/** What is stored about a subscription beside the organization's facts. */
export interface BillingFacts {
  readonly cancel_at: Date | null
  readonly current_period_ends_at: Date | null
  readonly amount_minor: number | null
  readonly currency: string | null
  readonly payer_email: string | null
  readonly next_invoice_at: Date | null
}

/** The subscription as the role sees it: what is paid, and by whom, is for those who reach every account. */
export const subscription = (
  facts: OrganizationFacts,
  billing: BillingFacts,
  role: Role,
  now: Date
): typeof Subscription.Type => {
  const { plan: bought, seats, status, valid_until } = organization(facts, now)
  const paid = reachesEveryAccount(role) ? billing : null
  return {
    object: "subscription",
    status,
    ...bought,
    seats,
    trial_ends_at: facts.trial_ends_at,
    current_period_ends_at: billing.current_period_ends_at,
    valid_until,
    cancel_at: billing.cancel_at,
    amount: paid?.amount_minor ?? null,
    currency: paid?.currency ?? null,
    payer_email: paid?.payer_email ?? null,
    next_invoice_at: paid?.next_invoice_at ?? null
  }
}
