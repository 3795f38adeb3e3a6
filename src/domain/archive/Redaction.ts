/** Redaction: the content of single messages is taken out of the archive, and a mark stays. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { described, Kind, Line, Uuid } from "../JsonShapes.ts"
import { MessageId, PlatformId } from "./PlatformId.ts"
import type { ChangeRecord, MessageDetails, MessageRecord } from "./Records.ts"

/** Messages that one request redacts at most. */
const redactedAtOnce = 100

/** Pages and tail rows that one request rewrites at most, unless it names one message: some are edited without end. */
export const rewrittenAtOnce = 1000

export const RedactedIds = Schema.Array(MessageId).check(Schema.isMinLength(1), Schema.isMaxLength(redactedAtOnce))

export const RedactionReason = Line(200)

export const Redaction = Schema.Struct({
  object: Kind("archive_redaction"),
  account_id: described(AccountId, "The account: a UUID."),
  chat_id: described(PlatformId, "The chat."),
  message_ids: described(Schema.Array(MessageId), "The messages, of which no content is archived any more.")
}).annotate({ identifier: "archive_redaction" })

/** The id of a redaction, which its journal entry and the pages that it replaced name. */
export const RedactionId = Uuid.pipe(Schema.brand("RedactionId"))
export type RedactionId = typeof RedactionId.Type

/** The details that stay of a revision: the place of the message in its conversation, and its times. */
const remaining = (
  { album_id, edited_at, expires_at, outgoing, reply_to_id, topic_id }: MessageDetails,
  redactedAt: number
): MessageDetails => ({
  ...(reply_to_id === undefined ? {} : { reply_to_id }),
  ...(album_id === undefined ? {} : { album_id }),
  ...(topic_id === undefined ? {} : { topic_id }),
  ...(expires_at === undefined ? {} : { expires_at }),
  ...(outgoing === undefined ? {} : { outgoing }),
  ...(edited_at === undefined ? {} : { edited_at }),
  redacted_at: redactedAt
})

/** The message without its content; the record itself where that was taken out before. `redactedAt` is Unix seconds. */
export const redactMessage = (record: MessageRecord, redactedAt: number): MessageRecord => {
  if (record.details.redacted_at !== undefined) return record
  const { archivedAt, at, details, from, id, kind } = record
  return { id, at, archivedAt, from, kind, text: null, details: remaining(details, redactedAt) }
}

/** An edit without what it says; a deletion says nothing. */
export const redactChange = (record: ChangeRecord, redactedAt: number): ChangeRecord => {
  if (record.change === "deleted" || record.details.redacted_at !== undefined) return record
  const { change, details, edited_at, id, late, seen_at } = record
  return {
    change,
    id,
    seen_at,
    edited_at,
    text: null,
    details: remaining(details, redactedAt),
    ...(late === undefined ? {} : { late })
  }
}
