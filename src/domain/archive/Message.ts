/** An archived message as it is answered: with its newest text, and what became of it. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { ContentNotice, Count, described, Kind, List, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { maxNeighbours } from "../Limits.ts"
import { FileReason } from "./FileReason.ts"
import { MessageId, PlatformId } from "./PlatformId.ts"
import { DeletionReason, type EditRecord, MessageKind, type MessageRecord } from "./Records.ts"
import { byAge } from "./Revisions.ts"

/** The message that an operation is about, as a member of its path. */
export const TargetMessage = MessageId.annotateKey({ description: "From list_messages." })

export const FileState = Schema.Literals(["saved", "pending", "skipped", "failed", "deleted"])
export type FileState = typeof FileState.Type

const text = (description: string) => described(Schema.NullOr(Schema.String), description)

const fileFields = {
  object: Kind("file"),
  id: described(Uuid, "The file's id: a UUID."),
  account_id: described(AccountId, "The account that saw it: a UUID."),
  chat_id: described(PlatformId, "The chat that it was sent in."),
  message_id: described(MessageId, "The message that it was sent with."),
  name: text("Its name; null where it has none."),
  mime_type: described(Schema.String, "Its type."),
  bytes: described(Count, "Its size in bytes."),
  sha256: text("SHA-256 of its content in hexadecimal digits; null until it is saved."),
  state: described(FileState, "Whether its content is archived."),
  reason: described(
    Schema.NullOr(FileReason),
    "Why it is not: `rule` and `size` by the rules, `protected` by its chat, `once` as it is shown once; `gone` from the messenger, `refused` by it. Null where it is, or still may be."
  ),
  archived_at: described(OptionalTimestamp, "When its content was archived.")
}

export const ArchivedFile = Schema.Struct(fileFields).annotate({ identifier: "file" })
export type ArchivedFile = typeof ArchivedFile.Type

/** A file by itself. */
export const SingleFile = Schema.Struct({ content_notice: ContentNotice, ...fileFields }).annotate({
  identifier: "single_file"
})

/** The id of a file, as a member of a path. */
export const FileId = Uuid
export const TargetFile = FileId.annotateKey({ description: "From list_files, or from a message." })

/** A page of files. */
export const FileList = Schema.Struct({
  ...List(ArchivedFile).fields,
  next_id: described(
    Schema.NullOr(FileId),
    "The starting_after of the next page; null where nothing follows."
  ),
  unreadable: described(Count, "Files of this page whose messages do not open, so that they have no names.")
}).annotate({ identifier: "file_list" })

const fields = {
  object: Kind("message"),
  id: described(MessageId, "The message's id in its chat."),
  account_id: described(AccountId, "The account that saw it: a UUID."),
  chat_id: described(PlatformId, "The chat that it is in."),
  sent_at: described(Timestamp, "When it was sent."),
  from: described(
    Schema.NullOr(Schema.Struct({
      id: described(Schema.String, "Their id on the messenger."),
      name: text("Their name; null where the messenger did not say it."),
      username: text("Their username, without @.")
    })),
    "Who sent it; null where the messenger did not say it."
  ),
  outgoing: described(Schema.Boolean, "Whether the account itself sent it."),
  text: text("Its text, as last edited; null without any."),
  caption: text("The text below its photo or file."),
  transcript: text("What is said in it, where the messenger wrote it down."),
  reply_to_id: described(Schema.NullOr(MessageId), "The message that it answers."),
  forwarded_from: text("Whom or what it was forwarded from."),
  kind: described(MessageKind, "What kind of message it is."),
  files: described(Schema.Array(ArchivedFile), "The files that were sent with it."),
  edited_at: described(OptionalTimestamp, "When it was last edited; null where it was not."),
  edits: described(Count, "How many edits are archived; list_message_edits has each text."),
  deleted_at: described(
    OptionalTimestamp,
    "When it was noticed that it had been deleted on the messenger; the archived copy stays."
  ),
  deleted_reason: described(
    Schema.NullOr(DeletionReason),
    "By what that was noticed: the messenger reported it, its time had run out, or it was no longer there."
  ),
  album_id: text("What the messages of one album share; null for a message by itself."),
  topic_id: described(Schema.NullOr(MessageId), "The topic of its group; null where it has none."),
  expires_at: described(OptionalTimestamp, "When it disappears on the messenger; null where it does not."),
  redacted_at: described(OptionalTimestamp, "When redact_messages took its content out of the archive."),
  archived_at: described(Timestamp, "When it was archived.")
}

export const Message = Schema.Struct(fields).annotate({ identifier: "message" })
export type Message = typeof Message.Type

/** A page of messages. */
export const MessageList = Schema.Struct({
  ...List(Message).fields,
  next_id: described(
    Schema.NullOr(MessageId),
    "The before_id of the next page, or the after_id where the oldest come first; null where nothing follows."
  ),
  unreadable: described(Count, "Messages of this page that do not open, and texts of edits that do not.")
}).annotate({ identifier: "message_list" })

/** The number of messages on each side: 0 to 20, 0 by default. */
export const Neighbours = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxNeighbours })).annotate({
  default: 0
})

/** A single message, with those around it. */
export const MessageInContext = Schema.Struct({
  content_notice: ContentNotice,
  ...fields,
  context: described(Schema.Array(Message), "The messages around it, oldest first, without itself."),
  unreadable: described(Count, "Messages around it that do not open, and texts of edits that do not.")
}).annotate({ identifier: "message_in_context" })

/** Facts about a message besides its record. */
export interface MessageState {
  readonly edits: number
  /** The newest edit; null where there is none, or where it does not open. */
  readonly newest: EditRecord | null
  readonly deletedAt: Date | null
  readonly deletedWhy: DeletionReason | null
  readonly files: ReadonlyMap<string, Pick<ArchivedFile, "archived_at" | "reason" | "sha256" | "state">>
}

const instant = (seconds: number | null | undefined): Date | null =>
  seconds === null || seconds === undefined ? null : new Date(seconds * 1000)

const pending = { state: "pending", reason: null, sha256: null, archived_at: null } as const

/** The message as it is now: what an edit says replaces text and details as a whole. */
export const message = (
  place: { readonly accountId: AccountId; readonly chatId: bigint },
  record: MessageRecord,
  state: MessageState
): Message => {
  const details = state.newest?.details ?? record.details
  const where = { account_id: place.accountId, chat_id: String(place.chatId) }
  const id = String(record.id)
  return {
    object: "message",
    id,
    ...where,
    sent_at: new Date(record.at * 1000),
    from: record.from,
    outgoing: record.details.outgoing ?? false,
    text: state.newest === null ? record.text : state.newest.text,
    caption: details.caption ?? null,
    transcript: details.transcript ?? null,
    reply_to_id: details.reply_to_id ?? null,
    forwarded_from: details.forwarded_from ?? null,
    kind: record.kind,
    files: (details.files ?? []).map((file) => ({
      object: "file",
      ...file,
      ...where,
      message_id: id,
      ...(state.files.get(file.id) ?? pending)
    })),
    edited_at: instant(state.newest?.edited_at ?? record.details.edited_at),
    edits: state.edits,
    deleted_at: state.deletedAt,
    deleted_reason: state.deletedWhy,
    album_id: details.album_id ?? null,
    topic_id: details.topic_id ?? null,
    expires_at: instant(details.expires_at),
    redacted_at: instant(details.redacted_at ?? record.details.redacted_at),
    archived_at: new Date(record.archivedAt * 1000)
  }
}

export const MessageEdit = Schema.Struct({
  object: Kind("message_edit"),
  revision: described(Count, "Its place among the revisions; 0 is the message as it was first seen."),
  text: text("The text of this revision."),
  caption: text("The text below its photo or file in this revision."),
  seen_at: described(Timestamp, "When this revision was archived."),
  edited_at: described(OptionalTimestamp, "When it was made, as the messenger says; null for the message as sent.")
}).annotate({ identifier: "message_edit" })
export type MessageEdit = typeof MessageEdit.Type

/** The revisions of a message. */
export const MessageEditList = Schema.Struct({
  ...List(MessageEdit).fields,
  unreadable: described(Count, "Revisions that do not open.")
}).annotate({ identifier: "message_edit_list" })

/** The revisions of a message, oldest first: as it was first seen, and its edits. */
export const messageEdits = (
  record: MessageRecord | null,
  edits: ReadonlyArray<EditRecord>
): ReadonlyArray<MessageEdit> => {
  const first = record === null ? [] : [{
    text: record.text,
    details: record.details,
    seen_at: record.archivedAt,
    edited_at: record.details.edited_at ?? null
  }]
  return [...first, ...[...edits].sort(byAge)].map((revision, place) => ({
    object: "message_edit",
    revision: record === null ? place + 1 : place,
    text: revision.text,
    caption: revision.details.caption ?? null,
    seen_at: new Date(revision.seen_at * 1000),
    edited_at: instant(revision.edited_at)
  }))
}
