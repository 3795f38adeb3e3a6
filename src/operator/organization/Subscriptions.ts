/** The billing of an organization, as an operator sets and sees it. */
import { Schema } from "effect"
import { OptionalTimestamp } from "../../domain/JsonShapes.ts"
import { maxEmailLength } from "../../domain/Limits.ts"
import {
  BillingState,
  type OrganizationChanges,
  type OrganizationSummary,
  Period
} from "../../domain/organization/Organization.ts"
import { Email } from "../RequestFields.ts"

const Licences = Schema.Struct({ protect: Schema.Natural, archive: Schema.Natural, governance: Schema.Natural })

const dates = {
  trial_ends_at: OptionalTimestamp,
  current_period_ends_at: OptionalTimestamp,
  cancel_at: OptionalTimestamp,
  next_invoice_at: OptionalTimestamp
}

/** The fields of it that are shown. */
export const Billing = Schema.Struct({
  state: BillingState,
  period: Schema.NullOr(Period),
  licences: Licences,
  /** In the currency's smallest unit. */
  amount: Schema.NullOr(Schema.Int),
  currency: Schema.NullOr(Schema.String),
  payer_email: Schema.NullOr(Schema.String),
  ...dates
})

export const billing = (summary: OrganizationSummary): typeof Billing.Type => ({
  state: summary.billing_state,
  period: summary.period,
  licences: {
    protect: summary.licences_protect,
    archive: summary.licences_archive,
    governance: summary.licences_governance
  },
  amount: summary.amount_minor,
  currency: summary.currency,
  payer_email: summary.payer_email,
  trial_ends_at: summary.trial_ends_at,
  current_period_ends_at: summary.current_period_ends_at,
  cancel_at: summary.cancel_at,
  next_invoice_at: summary.next_invoice_at
})

/** The most that an amount may be: what the column holds. */
const maxAmount = 2_147_483_647

/** The fields of it that may be changed: what is not there stays, null takes a value away. */
export const BillingInput = Schema.Struct({
  /** Licensed by subscription, not by agreement. */
  managed: Schema.optionalKey(Schema.Boolean),
  billing_state: Schema.optionalKey(BillingState),
  period: Schema.optionalKey(Schema.NullOr(Period)),
  licences_protect: Schema.optionalKey(Schema.Natural),
  licences_archive: Schema.optionalKey(Schema.Natural),
  licences_governance: Schema.optionalKey(Schema.Natural),
  /** The most that its archive may take; null for no limit. */
  storage_limit_bytes: Schema.optionalKey(Schema.NullOr(Schema.Natural)),
  amount_minor: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxAmount })))
  ),
  currency: Schema.optionalKey(Schema.NullOr(Schema.String.check(
    Schema.isPattern(/^[A-Z]{3}$/, { expected: "a currency by its ISO 4217 code, such as EUR" })
  ))),
  payer_email: Schema.optionalKey(Schema.NullOr(Email.check(Schema.isMaxCodePoints(maxEmailLength)))),
  trial_ends_at: Schema.optionalKey(OptionalTimestamp),
  current_period_ends_at: Schema.optionalKey(OptionalTimestamp),
  cancel_at: Schema.optionalKey(OptionalTimestamp),
  next_invoice_at: Schema.optionalKey(OptionalTimestamp)
})

/** The changes as a journal entry says them. */
export const billingDetails = (changes: Partial<OrganizationChanges>): Record<string, string | number | boolean> =>
  Object.fromEntries(
    Object.entries(changes).map((
      [name, value]
    ) => [name, value === null ? "none" : value instanceof Date ? value.toISOString() : value])
  )
