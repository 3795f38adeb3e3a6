/** The organization's subscription, and where people go for what is not done here. */
import { Schema } from "effect"
import { Count, described, Kind, OptionalTimestamp } from "../JsonShapes.ts"
import { canAccessEveryAccount, type Role } from "../people/Access.ts"
import {
  type BillingFacts,
  Organization,
  organization,
  type OrganizationFacts,
  OrganizationStatus,
  paidPlan,
  Tier
} from "./Organization.ts"

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
    "The pages that are configured; none by default."
  )
}).annotate({ identifier: "billing_links" })
export type BillingLink = typeof BillingLinks.Type["links"][number]

/** The subscription as the role sees it: what is paid, and by whom, is for those who can access every account. */
export const subscription = (
  facts: OrganizationFacts,
  billing: BillingFacts,
  role: Role,
  now: Date
): typeof Subscription.Type => {
  const { plan: bought, seats, status, valid_until } = organization(facts, now)
  const paid = canAccessEveryAccount(role) ? billing : null
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

/** Accounts that hold a licence, by its tier. */
export type LicencesUsed = { readonly [Each in Tier]: number }

/** The licences that were bought, by tier. */
export const licencesOf = (facts: OrganizationFacts): LicencesUsed => ({
  protect: facts.licences_protect,
  archive: facts.licences_archive,
  governance: facts.licences_governance
})

/** True if licences are counted for each tier; otherwise every seat is of the plan's tier at most. */
export const countsLicences = (facts: OrganizationFacts): boolean =>
  Tier.literals.some((tier) => licencesOf(facts)[tier] > 0)

/** The reason that an organization cannot be licensed and billed so; null where it can. */
export const billingFault = (
  facts: OrganizationFacts & BillingFacts,
  used: LicencesUsed,
  ends: boolean
): string | null => {
  const { billing_state, id, managed } = facts
  if (!managed && billing_state !== "none") return `${id} is licensed by agreement: it has no billing state.`
  if (!managed && facts.plan === null) return `A licence by agreement has a plan: ${id} has none.`
  if (managed && ends) return `${id} is licensed by subscription: it has no end by agreement.`
  if (billing_state === "trial" && facts.trial_ends_at === null) return "A trial has an end: say when, by --trial-ends."
  if ((billing_state === "active" || billing_state === "retry") && (facts.plan === null || facts.period === null)) {
    return "A subscription that is paid has a plan and a period: say which, by --plan and --period."
  }
  if ((facts.amount_minor === null) !== (facts.currency === null)) return "An amount has a currency: say both."
  if (!countsLicences(facts)) return null
  const short = Tier.literals.find((tier) => licencesOf(facts)[tier] < used[tier])
  return short === undefined
    ? null
    : `${used[short]} accounts of ${id} hold a licence of the tier ${short}: it cannot have ${
      licencesOf(facts)[short]
    }.`
}

/** The reason that an account that has none of the tier cannot get a licence of it; null where it can. */
export const tierFault = (facts: OrganizationFacts, tier: Tier, used: LicencesUsed): string | null => {
  const { id } = facts
  const plan = paidPlan(facts)
  if (plan === null) return `${id} has no paid plan: its accounts have no tier.`
  if (!countsLicences(facts)) {
    return Tier.literals.indexOf(tier) <= Tier.literals.indexOf(plan)
      ? null
      : `The plan of ${id} is ${plan}: its accounts cannot have ${tier}.`
  }
  const bought = licencesOf(facts)[tier]
  return used[tier] < bought
    ? null
    : `${id} has ${bought} licences of the tier ${tier}, and ${used[tier]} accounts hold one.`
}

/** An unused sign-up link; it holds a seat. */
export interface SignUpLink {
  readonly id: string
  readonly created_at: Date
}
