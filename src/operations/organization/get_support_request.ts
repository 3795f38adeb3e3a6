import { Effect } from "effect"
import { ResourceMissing } from "../../domain/Failure.ts"
import { SupportRequest, supportRequest, TargetSupportRequest } from "../../domain/organization/Support.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Support } from "../../ports/organization/Support.ts"
import * as samples from "./organization.samples.ts"

export const getSupportRequest = Operation.read(
  "get_support_request",
  {
    summary: "Read one request to the support, with its answer.",
    method: "GET",
    path: "/v1/support-requests/:request_id",
    toolset: "console",
    scope: "org:read",
    roles: everyone,
    params: { request_id: TargetSupportRequest },
    success: SupportRequest,
    sample: samples.getSupportRequest,
    failures: [ResourceMissing]
  },
  Effect.fnUntraced(function*({ request_id }, { caller, now }) {
    const support = yield* Support
    const found = yield* support.find(caller, request_id)
    if (found === null) return yield* new ResourceMissing({ param: "request_id" })
    return supportRequest(found, now)
  })
)
