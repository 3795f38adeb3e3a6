/** Chats of the simulated platform: documents, and how they change. */
import { Schema } from "effect"
import { ChatType } from "../../../domain/archive/Chat.ts"
import { MessageDetails, MessageKind, SenderRecord } from "../../../domain/archive/Records.ts"

/** The number of changes that a box remembers: of what is older a difference is too long. */
const logKept = 500

/** Ids are decimal texts: they have 64 bits. */
const Id = Schema.String

const FileDocument = Schema.Struct({
  messengerFile: Schema.String,
  name: Schema.NullOr(Schema.String),
  mimeType: Schema.String,
  /** In base64. */
  content: Schema.String
})

export const MessageDocument = Schema.Struct({
  id: Id,
  at: Schema.Int,
  from: Schema.NullOr(SenderRecord),
  kind: MessageKind,
  text: Schema.NullOr(Schema.String),
  details: MessageDetails,
  files: Schema.Array(FileDocument),
  /** It disappears then, and no update tells of it; in Unix seconds. */
  expiresAt: Schema.NullOr(Schema.Int)
})
export type MessageDocument = typeof MessageDocument.Type

/** A change of a box, with the position that it took the box to; a message is named, and read as it is by then. */
const LogEntry = Schema.Struct({
  position: Schema.Int,
  change: Schema.Literals(["new", "edited", "deleted"]),
  chatId: Id,
  ids: Schema.Array(Id)
})
export type LogEntry = typeof LogEntry.Type

const BoxDocument = Schema.Struct({
  position: Schema.Int,
  /** The position before the oldest entry. */
  logFrom: Schema.Int,
  log: Schema.Array(LogEntry)
})
export type BoxDocument = typeof BoxDocument.Type

export const emptyBox: BoxDocument = { position: 1, logFrom: 1, log: [] }

const MemberDocument = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  username: Schema.NullOr(Schema.String),
  role: Schema.Literals(["owner", "admin", "member"])
})

/** A chat: of one account, or, with a box of its own, of several. */
export const ChatDocument = Schema.Struct({
  chatId: Id,
  type: ChatType,
  title: Schema.NullOr(Schema.String),
  username: Schema.NullOr(Schema.String),
  protected: Schema.Boolean,
  migratedTo: Schema.NullOr(Id),
  members: Schema.Array(MemberDocument),
  /** In the order of their ids. */
  messages: Schema.Array(MessageDocument),
  nextId: Schema.Int,
  /** Null where it shares the account's box. */
  box: Schema.NullOr(BoxDocument),
  /** The accounts that see it, each from an id on, by their ids on the platform. */
  accounts: Schema.Record(
    Schema.String,
    Schema.Struct({
      joinedAt: Schema.NullOr(Schema.Int),
      visibleFrom: Schema.Int,
      left: Schema.Boolean
    })
  )
})
export type ChatDocument = typeof ChatDocument.Type

/** The common box of an account, and the chats that it sees. */
export const AccountDocument = Schema.Struct({
  box: BoxDocument,
  /** Ids of messages in the chats that share the box. */
  nextId: Schema.Int,
  /** Names of documents. */
  chats: Schema.Array(Schema.String)
})
export type AccountDocument = typeof AccountDocument.Type

export const emptyAccount: AccountDocument = { box: emptyBox, nextId: 1, chats: [] }

/** The name of a chat's document. */
export const chatName = (userId: string, chatId: bigint, shared: boolean): string =>
  shared ? `chat/${chatId}` : `chat/${chatId}/${userId}`

/** The box after a change, which takes one position. */
export const logged = (box: BoxDocument, entry: Omit<LogEntry, "position">): BoxDocument => {
  const position = box.position + 1
  const log = [...box.log, { ...entry, position }]
  const kept = log.slice(-logKept)
  return { position, log: kept, logFrom: log.length > kept.length ? (kept[0]?.position ?? 1) - 1 : box.logFrom }
}

/** The changes after a position; null where the box does not remember all of them. */
export const changesSince = (box: BoxDocument, position: number): ReadonlyArray<LogEntry> | null =>
  position < box.logFrom || position > box.position ? null : box.log.filter((entry) => entry.position > position)

const idOf = ({ id }: MessageDocument): bigint => BigInt(id)

/** The messages that the account sees. */
export const visibleTo = ({ accounts, messages }: ChatDocument, userId: string): ReadonlyArray<MessageDocument> => {
  const member = accounts[userId]
  return member === undefined || member.left
    ? []
    : messages.filter((message) => idOf(message) >= BigInt(member.visibleFrom))
}

/** The chat at a time in Unix seconds: messages whose time has run out are gone. */
export const withoutExpired = (chat: ChatDocument, now: number): ChatDocument =>
  chat.messages.every(({ expiresAt }) => expiresAt === null || expiresAt > now) ? chat : {
    ...chat,
    messages: chat.messages.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
  }

export const withMessage = (chat: ChatDocument, message: MessageDocument): ChatDocument => ({
  ...chat,
  messages: [...chat.messages.filter(({ id }) => id !== message.id), message].sort((one, other) =>
    idOf(one) < idOf(other) ? -1 : 1
  )
})

export const withoutMessages = (chat: ChatDocument, ids: ReadonlyArray<bigint>): ChatDocument => ({
  ...chat,
  messages: chat.messages.filter((message) => !ids.includes(idOf(message)))
})
