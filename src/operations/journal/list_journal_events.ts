import { Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ParameterInvalid } from "../../domain/Failure.ts"
import { JournalEvents, JournalOutcome } from "../../domain/journal/JournalEvent.ts"
import { DateTime, defaultPageLimit, page, PageLimit, Uuid } from "../../domain/JsonShapes.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import * as samples from "./journal.samples.ts"

const Action = Schema.String.check(Schema.isPattern(/^[a-z_]+\.(?:[a-z_]+|\*)$/u, {
  expected: "an action such as account.paused, or account.*"
}))

export const listJournalEvents = Operation.read(
  "list_journal_events",
  {
    summary: "List the journal, newest first, backwards from an event or a moment.",
    description:
      "before_id wins over before. Owner and superadmins see every event; admin and archive those of the accounts that they can access; billing those of the organization, its subscription and billing; and everybody their own acts.",
    method: "GET",
    path: "/v1/journal",
    toolset: "journal",
    scope: "org:read",
    roles: everyone,
    query: {
      before_id: Schema.optionalKey(Uuid).annotateKey({ description: "Id of the oldest event of the previous page." }),
      before: Schema.optionalKey(DateTime).annotateKey({
        description: "Only events before this time, such as 2026-01-31T12:00:00Z."
      }),
      since: Schema.optionalKey(DateTime).annotateKey({
        description: "Only events at or after this time, such as 2026-01-01T00:00:00Z."
      }),
      account_id: Schema.optionalKey(AccountId).annotateKey({
        description: "Only events of the account with this id."
      }),
      admin_id: Schema.optionalKey(Uuid).annotateKey({ description: "Only acts of the admin with this id." }),
      action: Schema.optionalKey(Action).annotateKey({
        description: "Only this action, such as account.paused, or account.* for all about accounts."
      }),
      outcome: Schema.optionalKey(JournalOutcome).annotateKey({ description: "Only events with this outcome." }),
      credential_id: Schema.optionalKey(Uuid).annotateKey({
        description: "Only acts through the API key or AI connection with this id."
      }),
      limit: Schema.optionalKey(PageLimit).annotateKey({ description: "The most events on a page." })
    },
    success: JournalEvents,
    sample: samples.listJournalEvents
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, ...query }, { caller }) {
    const journal = yield* Journal
    const found = yield* journal.list(caller, {
      beforeId: query.before_id,
      before: query.before,
      since: query.since,
      accountId: query.account_id,
      adminId: query.admin_id,
      action: query.action,
      outcome: query.outcome,
      credentialId: query.credential_id,
      limit
    })
    if (found === null) {
      return yield* new ParameterInvalid({ param: "before_id", message: "before_id: there is no such event." })
    }
    return { ...page(found.events, limit), last_sequence: found.head.sequence }
  })
)
