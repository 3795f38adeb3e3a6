import { Effect } from "effect"
import { Subscription, subscription } from "../../domain/organization/Billing.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Overview } from "../../ports/organization/StatusOverview.ts"
import * as samples from "./organization.samples.ts"

export const getSubscription = Operation.read(
  "get_subscription",
  {
    summary: "Read the organization's subscription: its plan, seats and dates, and what is paid.",
    description: "The roles admin and archive do not see what is paid, by whom, and when the next invoice comes.",
    method: "GET",
    path: "/v1/subscription",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    success: Subscription,
    sample: samples.getSubscription
  },
  Effect.fnUntraced(function*(_, { caller, now }) {
    const facts = yield* (yield* Organizations).facts(caller)
    return subscription(facts, yield* (yield* Overview).billing(caller.organizationId), caller.role, now)
  })
)
