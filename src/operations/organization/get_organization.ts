import { Effect } from "effect"
import { Organization, organization } from "../../domain/organization/Organization.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./organization.samples.ts"

export const getOrganization = Operation.read(
  "get_organization",
  {
    summary: "Read the organization: its status, plan, seats and archive.",
    method: "GET",
    path: "/v1/organization",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    success: Organization,
    sample: samples.getOrganization
  },
  Effect.fnUntraced(function*(_, { caller, now }) {
    const organizations = yield* Organizations
    return organization(yield* organizations.facts(caller), now)
  })
)
