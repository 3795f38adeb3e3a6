/** The flags of `organizations set` that say how an organization is billed. */
import { Flag } from "effect/cli"
import { BillingState } from "../../../domain/organization/Organization.ts"
import type { BillingInput } from "../../../operator/organization/Subscriptions.ts"

/** The word that takes a value away. */
const none = "none"

const text = (name: string, description: string) =>
  Flag.map(
    Flag.String(name).pipe(Flag.withDescription(`${description}; ${none} takes it away`)),
    (said) => said === none ? null : said
  )

const date = (name: string, description: string) =>
  Flag.mapTryCatch(text(name, description), (said) => {
    if (said === null) return null
    const at = new Date(said)
    if (Number.isNaN(at.getTime())) throw new Error(said)
    return at
  }, () => `a date such as 2027-12-31, or ${none}`)

const bytesOfGigabyte = 1e9

const gigabytes = (name: string, description: string) =>
  Flag.mapTryCatch(text(name, description), (said) => {
    if (said === null) return null
    if (!/^\d{1,6}$/.test(said)) throw new Error(said)
    return Number(said) * bytesOfGigabyte
  }, () => `a whole number of GB, or ${none}`)

const count = (name: string, description: string) => Flag.Int(name).pipe(Flag.withDescription(description))

/** The change that a flag makes; nothing where it is not there. */
const changes = <A, B extends object>(flag: Flag.Flag<A>, change: (value: A) => B) =>
  flag.pipe(Flag.map(change), Flag.withDefault({}))

export const billingFlags = {
  licensedBy: changes(
    Flag.Literals("licensed-by", ["subscription", "agreement"]).pipe(
      Flag.withDescription("Whether it is billed, or licensed by agreement")
    ),
    (by) => ({ managed: by === "subscription" })
  ),
  billingState: changes(
    Flag.Literals("billing-state", BillingState.literals).pipe(Flag.withDescription("The state of the subscription")),
    (billing_state) => ({ billing_state })
  ),
  period: changes(
    Flag.ChoiceWithValue("period", [["monthly", "monthly"], ["annual", "annual"], [none, null]]).pipe(
      Flag.withDescription("How often it is billed")
    ),
    (period) => ({ period })
  ),
  protect: changes(
    count("licences-protect", "Licences of the tier protect"),
    (licences_protect) => ({ licences_protect })
  ),
  archive: changes(
    count("licences-archive", "Licences of the tier archive"),
    (licences_archive) => ({ licences_archive })
  ),
  governance: changes(
    count("licences-governance", "Licences of the tier governance"),
    (licences_governance) => ({ licences_governance })
  ),
  storageLimit: changes(
    gigabytes("storage-limit", "What its archive may take, in GB"),
    (storage_limit_bytes) => ({ storage_limit_bytes })
  ),
  trialEnds: changes(date("trial-ends", "When the trial ends"), (trial_ends_at) => ({ trial_ends_at })),
  periodEnds: changes(
    date("period-ends", "When the period ends that is paid for"),
    (current_period_ends_at) => ({ current_period_ends_at })
  ),
  cancelAt: changes(
    date("cancel-at", "When the subscription ends because it was cancelled"),
    (cancel_at) => ({ cancel_at })
  ),
  nextInvoice: changes(
    date("next-invoice", "When the next invoice is made"),
    (next_invoice_at) => ({ next_invoice_at })
  ),
  amount: changes(
    count("amount", "What a period costs, in the currency's smallest unit"),
    (amount_minor) => ({ amount_minor })
  ),
  currency: changes(
    text("currency", "The amount's currency, such as EUR, with the amount"),
    (currency) => currency === null ? { currency, amount_minor: null } : { currency }
  ),
  payer: changes(text("payer", "Where invoices go"), (payer_email) => ({ payer_email }))
}

/** The billing that the flags ask for. */
export const billingInput = (
  said: { readonly [Name in keyof typeof billingFlags]: Partial<typeof BillingInput.Type> }
): typeof BillingInput.Type => Object.values(said).reduce((all, each) => ({ ...all, ...each }), {})
