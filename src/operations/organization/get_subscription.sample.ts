import { licences, seats } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: {
    object: "subscription",
    status: "active",
    billing_state: "active",
    managed: true,
    plan: "governance",
    period: "annual",
    licences,
    seats,
    trial_ends_at: null,
    current_period_ends_at: null,
    valid_until: null,
    cancel_at: null,
    amount: null,
    currency: null,
    payer_email: null,
    next_invoice_at: null
  }
} as const
