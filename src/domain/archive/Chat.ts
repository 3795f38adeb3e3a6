/** A chat of an archived account, and who is in it. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { ContentNotice, Count, described, Kind, Line, List, OptionalTimestamp } from "../JsonShapes.ts"
import { PlatformId } from "./PlatformId.ts"
import type { ChatRecord, MemberRecord } from "./Records.ts"

export const ChatType = Schema.Literals(["private", "group", "channel", "bot", "saved"])
export type ChatType = typeof ChatType.Type

/** The decision of the archive's rules about a chat. */
export const ChatEffect = Schema.Literals(["archive", "skip", "review"])
export type ChatEffect = typeof ChatEffect.Type

/** The chat that an operation is about, as a member of its path. */
export const TargetChat = PlatformId.annotateKey({ description: "From list_chats." })

const fields = {
  object: Kind("chat"),
  id: described(PlatformId, "The chat's id on the messenger; the same chat has it in each account that sees it."),
  account_id: described(AccountId, "The account that sees it: a UUID."),
  type: described(ChatType, "What kind of chat it is; `saved` is the account's own notes."),
  title: described(Schema.NullOr(Schema.String), "Its title, or the other person's name; null while it is not known."),
  username: described(Schema.NullOr(Schema.String), "Its username, without @."),
  members_count: described(Schema.NullOr(Count), "How many people are in it; null while it is not known."),
  selected: described(Schema.Boolean, "Whether the rules have it archived."),
  effect: described(ChatEffect, "What the rules say: `review` waits for a decision."),
  complete: described(Schema.Boolean, "Whether it is archived from its beginning."),
  complete_back_to: described(
    OptionalTimestamp,
    "Everything since then is archived without a gap; null while nothing is, or where that is not known."
  ),
  protected: described(Schema.Boolean, "Whether the messenger asks its clients not to save from it."),
  migrated_to: described(Schema.NullOr(PlatformId), "The chat that continues it; null where none does."),
  messages: described(Count, "Messages that are archived."),
  files: described(Count, "Files that are archived."),
  first_message_at: described(OptionalTimestamp, "When the oldest archived message was sent."),
  last_message_at: described(OptionalTimestamp, "When the newest archived message was sent."),
  left_at: described(OptionalTimestamp, "Since when the account is no longer in it; null while it is.")
}

export const Chat = Schema.Struct(fields).annotate({ identifier: "chat" })
export type Chat = typeof Chat.Type

/** A page of chats. */
export const ChatList = Schema.Struct({
  ...List(Chat).fields,
  unreadable: described(Count, "Titles that do not open.")
}).annotate({ identifier: "chat_list" })

/** A single chat, with the notice. */
export const SingleChat = Schema.Struct({ content_notice: ContentNotice, ...fields }).annotate({
  identifier: "single_chat"
})

/** A chat as it is stored in the clear. */
export interface StoredChat {
  readonly chatId: bigint
  readonly type: ChatType
  readonly effect: ChatEffect
  readonly complete: boolean
  /** The time of the oldest message of what is archived up to the newest one without a gap. */
  readonly completeBackTo: Date | null
  readonly protected: boolean
  readonly migratedTo: bigint | null
  readonly messages: number
  readonly files: number
  readonly firstAt: Date | null
  readonly lastAt: Date | null
  readonly leftAt: Date | null
}

/** The chat of an account; what it is called is null where that is not stored or does not open. */
export const chat = (accountId: AccountId, stored: StoredChat, record: ChatRecord | null): Chat => ({
  object: "chat",
  id: String(stored.chatId),
  account_id: accountId,
  type: stored.type,
  title: record?.title ?? null,
  username: record?.username ?? null,
  members_count: record?.members_count ?? null,
  selected: stored.effect === "archive",
  effect: stored.effect,
  complete: stored.complete,
  complete_back_to: stored.completeBackTo,
  protected: stored.protected,
  migrated_to: stored.migratedTo === null ? null : String(stored.migratedTo),
  messages: stored.messages,
  files: stored.files,
  first_message_at: stored.firstAt,
  last_message_at: stored.lastAt,
  left_at: stored.leftAt
})

export const ChatMember = Schema.Struct({
  object: Kind("chat_member"),
  id: described(Schema.String, "The person's id on the messenger."),
  name: described(Schema.String, "Their name."),
  username: described(Schema.NullOr(Schema.String), "Their username, without @."),
  phone: described(Schema.NullOr(Schema.String), "Their phone number, where the account sees it."),
  role: described(Schema.Literals(["owner", "admin", "member", "left"]), "What they are in the chat."),
  joined_at: described(OptionalTimestamp, "When they joined; null where it is not known."),
  last_seen_in_chat_at: described(OptionalTimestamp, "When they were last seen in the chat.")
}).annotate({ identifier: "chat_member" })
export type ChatMember = typeof ChatMember.Type

/** The id of a person in a chat. */
export const MemberId = Line(64)

/** A page of members. */
export const ChatMemberList = Schema.Struct({
  ...List(ChatMember).fields,
  unreadable: described(Count, "1 where the members do not open.")
}).annotate({ identifier: "chat_member_list" })

const instant = (seconds: number | null): Date | null => seconds === null ? null : new Date(seconds * 1000)

export const chatMember = (record: MemberRecord): ChatMember => ({
  object: "chat_member",
  id: record.id,
  name: record.name,
  username: record.username,
  phone: record.phone,
  role: record.role,
  joined_at: instant(record.joined_at),
  last_seen_in_chat_at: instant(record.last_seen_in_chat_at)
})
