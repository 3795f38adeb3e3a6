/** One entry of an organization's journal (operations design, sections 2 and 7). */
import { Schema } from "effect"
import { CredentialKind, Via } from "./Access.ts"
import { ContentNotice, Count, List, Timestamp, Uuid } from "./Wire.ts"

export const JournalOutcome = Schema.Literals(["done", "refused", "failed", "pending"])
export type JournalOutcome = typeof JournalOutcome.Type

export const JournalDetails = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
)
export type JournalDetails = typeof JournalDetails.Type

const Hash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

const fields = {
  object: Schema.Literal("journal_event"),
  id: Uuid,
  sequence: Count.annotate({ description: "Per organization, from 1, without gaps." }),
  at: Timestamp,
  action: Schema.String,
  outcome: JournalOutcome,
  actor: Schema.Struct({
    type: Schema.Literals(["admin", "service", "holder", "external", "operator"]),
    admin_id: Schema.NullOr(Uuid),
    name: Schema.NullOr(Schema.String)
  }),
  credential: Schema.NullOr(Schema.Struct({ kind: CredentialKind, id: Schema.String, label: Schema.String })),
  via: Via,
  account_id: Schema.NullOr(Uuid),
  target: Schema.NullOr(Schema.Struct({ type: Schema.String, id: Schema.String })),
  details: JournalDetails,
  ip: Schema.NullOr(Schema.String),
  request_id: Schema.NullOr(Schema.String),
  closes: Schema.NullOr(Count).annotate({ description: "The sequence of the pending event that this one completes." }),
  prev_hash: Hash,
  hash: Hash
}

export const JournalEvent = Schema.Struct(fields).annotate({ identifier: "journal_event" })
export type JournalEvent = typeof JournalEvent.Type

/** The single read. */
export const JournalEventDetail = Schema.Struct({ content_notice: ContentNotice, ...fields }).annotate({
  identifier: "journal_event_detail"
})

/** A page, newest first; `last_sequence` is the newest event's of the whole journal. */
export const JournalEvents = Schema.Struct({ ...List(JournalEvent).fields, last_sequence: Count }).annotate({
  identifier: "journal_event_list"
})

/** A page in the journal's own order; with the newest event's sequence and hash, the whole chain can be checked. */
export const JournalTail = Schema.Struct({ ...List(JournalEvent).fields, last_sequence: Count, head_hash: Hash })
  .annotate(
    { identifier: "journal_tail" }
  )

/** What an entry says before the journal gives it its place in the chain. */
export type JournalEntry = Omit<JournalEvent, "object" | "id" | "sequence" | "at" | "prev_hash" | "hash">

/** The part of an event that its hash covers: everything but the hash itself, times as on the wire. */
export const hashed = ({ at, hash: _, ...event }: JournalEvent) => ({ ...event, at: at.toISOString() })

/** What the first entry's `prev_hash` is the SHA-256 of, so that whole chains cannot be swapped. */
export const chainSeed = (organizationId: string): string => `journal/1\n${organizationId}`
