/** Documents of the simulated platform as an account's sessions are answered them. */
import type {
  Box,
  ChatChange,
  ChatSeen,
  Difference,
  FileSeen,
  MessageSeen
} from "../../../ports/messenger/MessengerArchive.ts"
import { type ChatDocument, type LogEntry, type MessageDocument, visibleTo } from "./ChatDocuments.ts"

export const refOf = ({ box, chatId }: ChatDocument): string => `${box === null ? "common" : "own"}:${chatId}`

export const chatSeen = (chat: ChatDocument, userId: string): ChatSeen => {
  const member = chat.accounts[userId]
  const top = visibleTo(chat, userId).at(-1)
  const joinedAt = member?.joinedAt ?? null
  return {
    chatId: BigInt(chat.chatId),
    type: chat.type,
    ref: refOf(chat),
    title: chat.title,
    username: chat.username,
    members: chat.type === "group" || chat.type === "channel" ? chat.members.length : null,
    protected: chat.protected,
    // The platform tells it of chats with a box of their own.
    joinedAt: joinedAt === null || chat.box === null ? null : new Date(joinedAt * 1000),
    left: member?.left ?? true,
    migratedTo: chat.migratedTo === null ? null : BigInt(chat.migratedTo),
    topId: top === undefined ? null : BigInt(top.id),
    position: chat.box?.position ?? null
  }
}

const fileSeen = ({ content, messengerFile, mimeType, name }: MessageDocument["files"][number]): FileSeen => ({
  messengerFile,
  name,
  mimeType,
  bytes: Buffer.from(content, "base64").length,
  location: messengerFile,
  once: false
})

export const messageSeen = (chat: ChatDocument, message: MessageDocument, userId: string): MessageSeen => ({
  chatId: BigInt(chat.chatId),
  record: {
    id: BigInt(message.id),
    at: message.at,
    from: message.from,
    kind: message.kind,
    text: message.text?.toWellFormed() ?? null,
    details: message.from?.id === userId ? { ...message.details, outgoing: true } : message.details
  },
  editHidden: false,
  expiresAt: message.expiresAt === null ? null : new Date(message.expiresAt * 1000),
  files: message.files.map(fileSeen)
})

export const boxOf = ({ box, chatId }: ChatDocument): Box => box === null ? "common" : BigInt(chatId)

/** The changes that the log names, with messages as they are now: those that are gone by now are left out. */
export const changesOf = (
  entries: ReadonlyArray<LogEntry>,
  chats: ReadonlyMap<string, ChatDocument>,
  userId: string
): Extract<Difference, { readonly _tag: "Since" }>["changes"] => {
  const seen = new Set<string>()
  return entries.flatMap(({ change, chatId, ids }): ReadonlyArray<ChatChange> => {
    const chat = chats.get(chatId)
    if (chat === undefined) return []
    if (change === "deleted") {
      return [{
        _tag: "Deleted",
        chatId: chat.box === null ? null : BigInt(chatId),
        ids: ids.map(BigInt)
      }]
    }
    const [id = ""] = ids
    const found = visibleTo(chat, userId).find((message) => message.id === id)
    // A message that was new and then edited is answered once, as it is now.
    if (found === undefined || seen.has(`${chatId}/${id}`)) return []
    seen.add(`${chatId}/${id}`)
    return [{ _tag: change === "new" ? "New" : "Edited", message: messageSeen(chat, found, userId) }]
  })
}
