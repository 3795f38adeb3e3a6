/** Chats of a seed file's accounts, and how they become what the messenger would answer. */
import { Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { ChatType } from "../../domain/archive/Chat.ts"
import { PlatformId } from "../../domain/archive/PlatformId.ts"
import type { FileRecord, MessageKind } from "../../domain/archive/Records.ts"
import type { SeenChat, SeenMessage } from "../../ports/archive/ArchiveWriter.ts"
import { Name, Natural, optional, resolve, SeedTime, Text } from "./SeedValues.ts"

const Sender = Schema.Struct({ id: Name, name: Name, username: optional(Name) })

const Edit = Schema.Struct({ at: SeedTime, text: Text })

const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const File = Schema.Struct({
  name: Name,
  type: Text,
  text: optional(Schema.String).annotate({ description: "Its content, where it is text." }),
  base64: optional(Schema.String.check(Schema.isPattern(base64Text))).annotate({
    description: "Its content, where it is not."
  })
}).annotate({ identifier: "chat_file" })
type File = typeof File.Type

const Message = Schema.Struct({
  at: SeedTime,
  text: Text,
  from: optional(Name).annotate({ description: "A member's id; the account itself where it is left out." }),
  reply_to: optional(Natural).annotate({ description: "The place of the message that it answers, from 1." }),
  forwarded_from: optional(Text),
  edits: optional(Schema.Array(Edit)),
  deleted: optional(Schema.Boolean),
  files: optional(Schema.Array(File))
}).annotate({ identifier: "chat_message" })
type Message = typeof Message.Type

/** A chat; the ids of its messages are their places, from 1. */
export const SeedChat = Schema.Struct({
  id: PlatformId,
  type: ChatType,
  title: Text,
  username: optional(Name),
  complete: optional(Schema.Boolean),
  members: Schema.Array(Sender),
  messages: Schema.Array(Message)
}).annotate({ identifier: "archived_chat", description: "A chat that is archived already, the oldest message first." })
export type SeedChat = typeof SeedChat.Type

const seconds = (moment: string, now: Date): number => Math.floor(resolve(moment, now).getTime() / 1000)

const sender = ({ members }: SeedChat, id: string) => {
  const found = members.find((member) => member.id === id)
  return { id, name: found?.name ?? null, username: found?.username ?? null }
}

/** The chat, as the messenger answers it. */
export const seenChat = (chat: SeedChat): SeenChat => ({
  chatId: BigInt(chat.id),
  type: chat.type,
  leftAt: null,
  info: {
    title: chat.title,
    username: chat.username ?? null,
    members_count: chat.type === "private" ? null : chat.members.length
  }
})

export const seenMembers = ({ members }: SeedChat) =>
  members.map(({ id, name, username }) => ({
    id,
    name,
    username: username ?? null,
    phone: null,
    role: "member" as const,
    joined_at: null,
    last_seen_in_chat_at: null
  }))

const seenMessage = (chat: SeedChat, message: Message, place: number, account: SeenMessage["from"], now: Date) => ({
  id: BigInt(place + 1),
  at: seconds(message.at, now),
  from: message.from === undefined ? account : sender(chat, message.from),
  kind: "text" as const,
  text: message.text,
  details: {
    ...(message.reply_to === undefined ? {} : { reply_to_id: String(message.reply_to) }),
    ...(message.forwarded_from === undefined ? {} : { forwarded_from: message.forwarded_from }),
    ...(message.from === undefined ? { outgoing: true } : {})
  }
})

/** Each message with its revisions, the oldest first. */
export const seenMessages = (
  chat: SeedChat,
  account: SeenMessage["from"],
  now: Date
): ReadonlyArray<SeenMessage> =>
  chat.messages.flatMap((message, place): ReadonlyArray<SeenMessage> => {
    const first = seenMessage(chat, message, place, account, now)
    const edits = (message.edits ?? []).map(({ at, text }) => ({
      ...first,
      text,
      details: { ...first.details, edited_at: seconds(at, now) }
    }))
    return [first, ...edits]
  })

/** The bytes of the file. */
const contentOf = ({ base64 = "", text }: File): Uint8Array =>
  text === undefined ? Result.getOrElse(Base64.decode(base64), () => new Uint8Array()) : new TextEncoder().encode(text)

/** A file of a chat, with the message that it is of. */
export interface SeedFile {
  readonly messageId: bigint
  readonly record: FileRecord
  readonly content: Uint8Array
}

export const fileCount = ({ messages }: SeedChat): number =>
  messages.reduce((count, { files = [] }) => count + files.length, 0)

/** The chat's files, each with an id of the list. */
export const filesOf = (chat: SeedChat, ids: ReadonlyArray<string>): ReadonlyArray<SeedFile> =>
  chat.messages.flatMap(({ files = [] }, place) => files.map((file) => ({ file, messageId: BigInt(place + 1) })))
    .map(({ file, messageId }, index) => {
      const content = contentOf(file)
      const record = { id: ids[index] ?? "", name: file.name, mime_type: file.type, bytes: content.length }
      return { messageId, record, content }
    })

const kindOf = (type: string): MessageKind =>
  type.startsWith("image/") ? "photo" : type.startsWith("video/") ? "video" : "document"

/** The messages with the files that were sent with them. */
export const withFiles = (
  messages: ReadonlyArray<SeenMessage>,
  files: ReadonlyArray<SeedFile>
): ReadonlyArray<SeenMessage> =>
  messages.map((message) => {
    const own = files.filter(({ messageId }) => messageId === message.id).map(({ record }) => record)
    const [first] = own
    return first === undefined
      ? message
      : { ...message, kind: kindOf(first.mime_type), details: { ...message.details, files: own } }
  })

/** The account as the sender of its own messages. */
export const selfOf = (account: {
  readonly phone: string
  readonly first_name?: string
  readonly last_name?: string
  readonly username?: string
}) => ({
  id: account.phone.slice(1),
  name: [account.first_name, account.last_name].filter((name) => name !== undefined).join(" ") || account.phone,
  username: account.username ?? null
})

/** The messages that the account still sees, each as last edited. */
export const messagesLeft = (
  chat: SeedChat,
  account: SeenMessage["from"],
  now: Date
): ReadonlyArray<SeenMessage> => {
  const gone = new Set(deletedIds(chat))
  const newest = new Map(seenMessages(chat, account, now).map((message) => [message.id, message]))
  return [...newest.values()].filter(({ id }) => !gone.has(id))
}

/** The ids of messages that the account no longer sees. */
export const deletedIds = ({ messages }: SeedChat): ReadonlyArray<bigint> =>
  messages.flatMap(({ deleted }, place) => deleted === true ? [BigInt(place + 1)] : [])

const words = [
  "harbour",
  "contract",
  "invoice",
  "meeting",
  "tomorrow",
  "shipment",
  "договор",
  "Lieferung",
  "réunion",
  "会议",
  "budget",
  "signed"
]
const perChat = 500
const minutesBetween = 7

/** Chats with so many messages in all, for trials of size; the newest message is an hour old. */
export const generatedChats = (count: number): ReadonlyArray<SeedChat> =>
  Array.from({ length: Math.ceil(count / perChat) }, (_, chat) => {
    const size = Math.min(perChat, count - chat * perChat)
    return {
      id: String(1_000_000 + chat),
      type: "private" as const,
      title: `Generated chat ${chat + 1}`,
      members: [{ id: `9${chat}`, name: `Person ${chat + 1}` }],
      messages: Array.from({ length: size }, (_, place) => ({
        at: `-${60 + (size - place) * minutesBetween}m`,
        text: Array.from({ length: 8 }, (_, word) => words[(place * 7 + word * word + chat) % words.length]).join(" "),
        ...(place % 2 === 0 ? { from: `9${chat}` } : {})
      }))
    }
  })
