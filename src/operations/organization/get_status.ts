import { Effect } from "effect"
import { overview, StatusOverview } from "../../domain/organization/StatusOverview.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Overview } from "../../ports/organization/StatusOverview.ts"
import * as samples from "./organization.samples.ts"

export const getStatus = Operation.read(
  "get_status",
  {
    summary: "Read the state of protection, saving, the journal and the service.",
    description: "Accounts and sessions are counted as far as the caller can access them.",
    method: "GET",
    path: "/v1/status",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    success: StatusOverview,
    sample: samples.getStatus
  },
  Effect.fnUntraced(function*(_, { caller, now }) {
    const organization = yield* (yield* Organizations).facts(caller)
    return overview(yield* (yield* Overview).facts(caller, organization, now), organization, now)
  })
)
