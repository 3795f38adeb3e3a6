/** One entry of an organization's journal (specification, section 11.1). */
import { Schema } from "effect"
import { ContentNotice, Count, described, Kind, List, Timestamp, Uuid } from "../JsonShapes.ts"
import { CredentialKind, Via } from "../people/Access.ts"

export const JournalOutcome = Schema.Literals(["done", "refused", "failed", "pending"])
export type JournalOutcome = typeof JournalOutcome.Type

export const JournalDetails = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
)
export type JournalDetails = typeof JournalDetails.Type

const Hash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

const fields = {
  object: Kind("journal_event"),
  id: described(Uuid, "The event's id: a UUID."),
  sequence: described(Count, "The event's place in the organization's journal: from 1, without gaps."),
  at: described(Timestamp, "When it happened."),
  action: described(Schema.String, "What was done, as `object.verb` in the past tense, such as `account.paused`."),
  outcome: described(JournalOutcome, "How it went; a `pending` event is completed by a later one."),
  actor: described(
    Schema.Struct({
      type: described(
        Schema.Literals(["admin", "service", "holder", "external", "operator"]),
        "An admin, the service by itself, the account's holder, someone on the messenger, or the service's operator."
      ),
      admin_id: described(Schema.NullOr(Uuid), "The admin: a UUID; null for every other actor."),
      name: described(Schema.NullOr(Schema.String), "The actor's name at that moment.")
    }),
    "Who did it."
  ),
  credential: described(
    Schema.NullOr(Schema.Struct({
      kind: described(
        CredentialKind,
        "What the credential is: a session of the console, an API key, a token or an OAuth connection."
      ),
      id: described(Schema.String, "The credential's id."),
      label: described(Schema.String, "What the credential was called at that moment.")
    })),
    "What it was done with; null where no credential was."
  ),
  via: described(Via, "How the request came in."),
  account_id: described(Schema.NullOr(Uuid), "The account that it concerns: a UUID."),
  target: described(
    Schema.NullOr(Schema.Struct({
      type: described(Schema.String, "The kind of resource, such as `account`."),
      id: described(Schema.String, "The resource's id.")
    })),
    "What it was done to; null where that is the organization itself."
  ),
  details: described(JournalDetails, "What belongs to the action: texts, numbers and truth values by name."),
  ip: described(
    Schema.NullOr(Schema.String),
    "The address that the request came from; null where there was no request."
  ),
  request_id: described(Schema.NullOr(Schema.String), "The `Request-Id` of the request; null where there was none."),
  closes: described(
    Schema.NullOr(Count),
    "The sequence of the pending event that this one completes; null for every other."
  ),
  prev_hash: described(Hash, "The hash of the event before: 64 hexadecimal digits."),
  hash: described(Hash, "The SHA-256 of the event in canonical JSON (RFC 8785): 64 hexadecimal digits.")
}

export const JournalEvent = Schema.Struct(fields).annotate({ identifier: "journal_event" })
export type JournalEvent = typeof JournalEvent.Type

/** The single read. */
export const JournalEventDetail = Schema.Struct({ content_notice: ContentNotice, ...fields }).annotate({
  identifier: "journal_event_detail"
})

const LastSequence = described(Count, "The sequence of the newest event of the whole journal.")

/** A page, newest first; `last_sequence` is the newest event's of the whole journal. */
export const JournalEvents = Schema.Struct({ ...List(JournalEvent).fields, last_sequence: LastSequence }).annotate({
  identifier: "journal_event_list"
})

/** A page in the journal's own order; with the newest event's sequence and hash, the whole chain can be checked. */
export const JournalTail = Schema.Struct({
  ...List(JournalEvent).fields,
  last_sequence: LastSequence,
  head_hash: described(Hash, "The hash of the newest event of the whole journal: 64 hexadecimal digits.")
})
  .annotate(
    { identifier: "journal_tail" }
  )

/** The text whose SHA-256 is the `prev_hash` of the first entry, so that whole chains cannot be swapped. */
export const chainSeed = (organizationId: string): string => `journal/1\n${organizationId}`
