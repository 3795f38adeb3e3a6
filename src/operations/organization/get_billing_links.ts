import { Effect } from "effect"
import { BillingLinks } from "../../domain/organization/Billing.ts"
import * as Operation from "../../kernel/Operation.ts"
import { BillingPages } from "../../ports/organization/StatusOverview.ts"
import * as samples from "./organization.samples.ts"

export const getBillingLinks = Operation.read(
  "get_billing_links",
  {
    summary: "Read where plans, payment, invoices and cancelling are found in a browser.",
    method: "GET",
    path: "/v1/billing-links",
    toolset: "console",
    scope: "org:read",
    roles: ["owner", "superadmin", "billing"],
    success: BillingLinks,
    sample: samples.getBillingLinks
  },
  () => Effect.map(BillingPages, (links) => ({ object: "billing_links" as const, links }))
)
