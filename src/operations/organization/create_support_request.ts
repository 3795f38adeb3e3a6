import { Duration, Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ResourceMissing, TooManyAttempts } from "../../domain/Failure.ts"
import { Line, Text } from "../../domain/JsonShapes.ts"
import { maxSupportMessageLength, maxSupportSubjectLength, supportRequestsPerDay } from "../../domain/Limits.ts"
import { supportRequested } from "../../domain/mail/index.ts"
import { SupportCategory, SupportRequest, supportRequest } from "../../domain/organization/Support.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Support } from "../../ports/organization/Support.ts"
import * as samples from "./organization.samples.ts"

const day = Duration.toMillis(Duration.days(1))

export const createSupportRequest = Operation.write(
  "create_support_request",
  {
    summary: "Ask the support of the service for help.",
    description:
      `The request is kept, and mailed to the support where the service sends mail. Its text is never in the journal. An admin asks ${supportRequestsPerDay} times in 24 hours at most.`,
    method: "POST",
    path: "/v1/support-requests",
    toolset: "console",
    scope: "accounts:write",
    roles: everyone,
    idempotent: false,
    body: {
      category: SupportCategory.annotateKey({ description: "What it is about." }),
      subject: Line(maxSupportSubjectLength).annotateKey({ description: "The subject, in one line." }),
      message: Text(maxSupportMessageLength).check(Schema.isNonEmpty()).annotateKey({
        description: "What is asked; never a password, a code or a key."
      }),
      account_id: Schema.optionalKey(Schema.NullOr(AccountId)).annotateKey({
        description: "The account that it is about, from list_protected_accounts."
      }),
      related_request_id: Schema.optionalKey(Schema.NullOr(Line(64))).annotateKey({
        description: "The Request-Id of an answer that it is about."
      })
    },
    success: SupportRequest,
    sample: samples.createSupportRequest,
    failures: [ResourceMissing, TooManyAttempts],
    journal: { action: "support_request.created", target: "support_request" }
  },
  Effect.fnUntraced(function*({ account_id = null, related_request_id = null, ...text }, { caller, now }) {
    const accounts = yield* Accounts
    const support = yield* Support
    const { count, email, first } = yield* support.lockMade(caller, new Date(now.getTime() - day))
    if (count >= supportRequestsPerDay && first !== null) {
      return yield* new TooManyAttempts({
        message: `An admin asks the support ${supportRequestsPerDay} times in 24 hours at most. Try again later.`,
        retry_after: Math.max(1, Math.ceil((first.getTime() + day - now.getTime()) / 1000))
      })
    }
    if (account_id !== null && (yield* accounts.find(caller, account_id, false)) === null) {
      return yield* new ResourceMissing({ param: "account_id" })
    }
    const made = yield* support.create(caller, { ...text, account_id, related_request_id }, now)
    return Operation.changed(
      supportRequest(made, now),
      { number: made.number, category: made.category },
      made.id,
      [],
      [
        supportRequested({
          organizationId: caller.organizationId,
          number: made.number,
          category: made.category,
          subject: made.subject,
          message: made.message,
          email,
          accountId: made.account_id,
          relatedRequestId: made.related_request_id
        })
      ]
    )
  })
)
