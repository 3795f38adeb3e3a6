import { Effect } from "effect"
import { ResourceMissing } from "../../domain/Failure.ts"
import { JournalEventDetail } from "../../domain/journal/JournalEvent.ts"
import { Uuid } from "../../domain/JsonShapes.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import * as samples from "./journal.samples.ts"

export const getJournalEvent = Operation.read(
  "get_journal_event",
  {
    summary: "Read one event of the journal.",
    method: "GET",
    path: "/v1/journal/:event_id",
    toolset: "journal",
    scope: "org:read",
    roles: everyone,
    params: { event_id: Uuid.annotateKey({ description: "From list_journal_events." }) },
    success: JournalEventDetail,
    sample: samples.getJournalEvent,
    failures: [ResourceMissing]
  },
  Effect.fnUntraced(function*({ event_id }, { caller }) {
    const journal = yield* Journal
    const event = yield* journal.find(caller, event_id)
    if (event === null) return yield* new ResourceMissing({ param: "event_id" })
    return event
  })
)
