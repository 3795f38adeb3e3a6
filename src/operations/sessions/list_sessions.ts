import { Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { defaultPageLimit, List, page } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { protectors } from "../../domain/people/Access.ts"
import { ReviewState, SessionRecordId, SessionReview, sessionReview } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Sessions } from "../../ports/sessions/Sessions.ts"
import * as samples from "./sessions.samples.ts"

export const listSessions = Operation.read(
  "list_sessions",
  {
    summary: "List the sessions of all accounts that the caller can access: what has to be reviewed first comes first.",
    description:
      "The order is by review_deadline, those without one last, then the newest first. The service's own sessions are not listed: get_account shows them.",
    method: "GET",
    path: "/v1/sessions",
    toolset: "security",
    scope: "org:read",
    roles: protectors,
    query: {
      review: Schema.optionalKey(ReviewState).annotateKey({
        description:
          "Only these: `pending` has a deadline or is being signed out, `approved` was approved by an admin, `unreviewed` was there before the service."
      }),
      account_id: Schema.optionalKey(AccountId).annotateKey({ description: "Only the sessions of this account." }),
      ...paging(SessionRecordId, "sessions", "item")
    },
    success: List(SessionReview).annotate({ identifier: "session_review_list" }),
    sample: samples.listSessions
  },
  Effect.fnUntraced(function*({ account_id, limit = defaultPageLimit, review, starting_after }, { caller, now }) {
    const sessions = yield* Sessions
    const found = yield* sessions.list(caller, { review, accountId: account_id, after: starting_after, limit })
    const rows = yield* pageRows(found, "there is no such session, or it has ended. Start with the first page.")
    return page(rows.map((row) => sessionReview(row, now)), limit)
  })
)
