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
    licences: {
      protect: 10,
      archive: 10,
      governance: 5
    },
    seats: {
      limit: 25,
      used: 12,
      reserved: 2,
      free: 11
    },
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
