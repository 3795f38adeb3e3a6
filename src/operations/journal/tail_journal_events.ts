import { Effect, Schema } from "effect"
import { JournalTail } from "../../domain/journal/JournalEvent.ts"
import { page } from "../../domain/JsonShapes.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import * as samples from "./journal.samples.ts"

const defaultLimit = 100

export const tailJournalEvents = Operation.read(
  "tail_journal_events",
  {
    summary: "Read the whole journal in its order, for collectors: the events after a sequence, oldest first.",
    description:
      "Nothing is filtered, so that sequence and hashes can be checked without gaps. A connection that is limited to accounts or departments may not call it. Pass the sequence of the last event received as after_sequence.",
    method: "GET",
    path: "/v1/journal/tail",
    toolset: "journal",
    scope: "org:read",
    roles: superadmins,
    whole: true,
    query: {
      after_sequence: Schema.optionalKey(Schema.Natural.annotate({ default: 0 })).annotateKey({
        description: "Sequence of the last event received; 0 starts at the first."
      }),
      limit: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 })).annotate({ default: defaultLimit })
      ).annotateKey({ description: "The most events on a page." })
    },
    success: JournalTail,
    sample: samples.tailJournalEvents
  },
  Effect.fnUntraced(function*({ after_sequence = 0, limit = defaultLimit }, { caller }) {
    const journal = yield* Journal
    const { events, head } = yield* journal.tail(caller.organizationId, after_sequence, limit + 1)
    return { ...page(events, limit), last_sequence: head.sequence, head_hash: head.hash }
  })
)
