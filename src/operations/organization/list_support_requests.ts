import { Effect } from "effect"
import { defaultPageLimit, page, PlainList, Uuid } from "../../domain/JsonShapes.ts"
import { SupportRequest, supportRequest } from "../../domain/organization/Support.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Support } from "../../ports/organization/Support.ts"
import * as samples from "./organization.samples.ts"

export const listSupportRequests = Operation.read(
  "list_support_requests",
  {
    summary: "List requests to the support, newest first.",
    description:
      "Owner and superadmins see every request of the organization, any other role its own. A credential that is limited to some accounts sees its admin's requests that name no account or one that it reaches.",
    method: "GET",
    path: "/v1/support-requests",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    query: paging(Uuid, "requests", "request"),
    success: PlainList(SupportRequest).annotate({ identifier: "support_request_list" }),
    sample: samples.listSupportRequests
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after }, { caller, now }) {
    const support = yield* Support
    const found = yield* support.list(caller, { after: starting_after, limit })
    const rows = yield* pageRows(found, "there is no such request.")
    return page(rows.map((facts) => supportRequest(facts, now)), limit)
  })
)
