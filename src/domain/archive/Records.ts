/** Records of the archive as frames hold them: what is sealed, without what is stored beside it in the clear. */
import { Schema } from "effect"
import type { FrameKind } from "./Epoch.ts"

export const MessageKind = Schema.Literals([
  "text",
  "photo",
  "video",
  "voice",
  "document",
  "sticker",
  "location",
  "contact",
  "poll",
  "service",
  "other"
])
export type MessageKind = typeof MessageKind.Type

const Text = Schema.NullOr(Schema.String)

/** The last second of the year 9999, after which no timestamp can be written. */
export const lastSecond = 253_402_300_799

const UnixSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: lastSecond }))

/** The largest id of a message or chat. */
export const largestId = 2n ** 63n - 1n

const Id = Schema.String.check(Schema.isPattern(/^(?:0|[1-9]\d{0,18})$/))

/** A person, group or channel that wrote; a messenger that does not name it leaves the names null. */
export const SenderRecord = Schema.Struct({ id: Schema.String, name: Text, username: Text })
export type SenderRecord = typeof SenderRecord.Type

/** A file of a message. Its state and its key are stored apart, so that it can be deleted alone. */
const FileRecord = Schema.Struct({
  id: Schema.String,
  name: Text,
  mime_type: Schema.String,
  bytes: Schema.Int
})
export type FileRecord = typeof FileRecord.Type

/** A style or link in a text; offsets count UTF-16 units. */
const EntityRecord = Schema.Struct({
  type: Schema.String,
  offset: Schema.Int,
  length: Schema.Int,
  url: Schema.optionalKey(Schema.String),
  /** Of a custom emoji. */
  emoji_id: Schema.optionalKey(Schema.String)
})

/** Reactions of one kind: an emoji, a custom one by its id, or, without either, paid ones. */
export const ReactionRecord = Schema.Struct({
  emoji: Schema.optionalKey(Schema.String),
  emoji_id: Schema.optionalKey(Schema.String),
  count: Schema.Int
})

/** Members that few messages have. Those that this version does not know are kept. Times are Unix seconds. */
export const MessageDetails = Schema.Struct({
  caption: Schema.optionalKey(Schema.String),
  transcript: Schema.optionalKey(Schema.String),
  reply_to_id: Schema.optionalKey(Schema.String),
  forwarded_from: Schema.optionalKey(Schema.String),
  files: Schema.optionalKey(Schema.Array(FileRecord)),
  entities: Schema.optionalKey(Schema.Array(EntityRecord)),
  /**
   * Words of a service message, of a place, or of what the archive has no members for; a poll's question and answers;
   * a contact's name and number.
   */
  service: Schema.optionalKey(Schema.String),
  poll: Schema.optionalKey(Schema.Array(Schema.String)),
  contact: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Its id, and the emoji that it stands for. */
  sticker: Schema.optionalKey(Schema.Struct({ id: Schema.String, emoji: Text })),
  /** As they were when the revision was seen: their changes make no revision. */
  reactions: Schema.optionalKey(Schema.Array(ReactionRecord)),
  outgoing: Schema.optionalKey(Schema.Boolean),
  /** The messages of one album share it. */
  album_id: Schema.optionalKey(Schema.String),
  topic_id: Schema.optionalKey(Schema.String),
  expires_at: Schema.optionalKey(UnixSeconds),
  edited_at: Schema.optionalKey(UnixSeconds),
  /** The time when its content was taken out of the archive. */
  redacted_at: Schema.optionalKey(UnixSeconds)
})
export type MessageDetails = typeof MessageDetails.Type

/** A message as it was first seen. `at` and `archivedAt` are Unix seconds. */
export interface MessageRecord {
  readonly id: bigint
  readonly at: number
  readonly archivedAt: number
  readonly from: SenderRecord | null
  readonly kind: MessageKind
  readonly text: string | null
  readonly details: MessageDetails
  /** Members of columns that this version does not know, by column. */
  readonly unknown?: Readonly<Record<string, unknown>>
}

/** An edit, with the whole new revision. `seen_at` is Unix seconds, `id` the message's, decimal. */
const EditRecord = Schema.Struct({
  change: Schema.Literal("edited"),
  id: Id,
  seen_at: UnixSeconds,
  edited_at: Schema.NullOr(UnixSeconds),
  text: Text,
  details: MessageDetails,
  /** It came after a newer revision was stored. */
  late: Schema.optionalKey(Schema.Boolean)
})
export type EditRecord = typeof EditRecord.Type

/** `absent`: it was no longer among what the account sees. `expired`: its time had run out. */
export const DeletionReason = Schema.Literals(["deleted", "expired", "absent"])
export type DeletionReason = typeof DeletionReason.Type

/** A message that the account no longer sees, and by what that became known. */
const DeletionRecord = Schema.Struct({
  change: Schema.Literal("deleted"),
  id: Id,
  seen_at: UnixSeconds,
  why: DeletionReason
})
export type DeletionRecord = typeof DeletionRecord.Type

export const ChangeRecord = Schema.Union([EditRecord, DeletionRecord])
export type ChangeRecord = typeof ChangeRecord.Type

/** A member of a chat, as of `seen_at`; all of a snapshot have the same. Times are Unix seconds. */
export const MemberRecord = Schema.Struct({
  seen_at: UnixSeconds,
  id: Schema.String,
  name: Schema.String,
  username: Text,
  phone: Text,
  role: Schema.Literals(["owner", "admin", "member", "left"]),
  joined_at: Schema.NullOr(UnixSeconds),
  last_seen_in_chat_at: Schema.NullOr(UnixSeconds)
})
export type MemberRecord = typeof MemberRecord.Type

/** The names of a chat, as of `seen_at` in Unix seconds. */
export const ChatRecord = Schema.Struct({
  seen_at: UnixSeconds,
  title: Text,
  username: Text,
  members_count: Schema.NullOr(Schema.Int)
})
export type ChatRecord = typeof ChatRecord.Type

export interface RecordsOf {
  readonly messages: MessageRecord
  readonly changes: ChangeRecord
  readonly members: MemberRecord
  readonly chat: ChatRecord
}

export type RecordOf<Kind extends FrameKind> = RecordsOf[Kind]
