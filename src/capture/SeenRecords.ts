/** Answers of the messenger, as the archive's writer takes them. */
import { Effect } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { SeenChat, SeenMessage } from "../ports/archive/ArchiveWriter.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatSeen, MessageSeen } from "../ports/messenger/MessengerArchive.ts"

/** The chat with its names. */
export const chatRecord = (chat: ChatSeen, leftAt: Date | null): SeenChat => ({
  chatId: chat.chatId,
  type: chat.type,
  leftAt,
  info: { title: chat.title, username: chat.username, members_count: chat.members }
})

/** The id of a file follows from its place, so that a message that is read twice is the same message. */
const fileId = Effect.fnUntraced(function*({ accountId, organizationId }: ArchivedAccount, place: string) {
  const crypto = yield* ArchiveCrypto
  const digest = yield* crypto.sha256(new TextEncoder().encode(`file/1 ${organizationId} ${accountId} ${place}`))
  const text = hex(digest.subarray(0, 16))
  // A name-based UUID of a hash of its own kind (RFC 9562, version 8).
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-8${text.slice(13, 16)}-a${text.slice(17, 20)}-${text.slice(20)}`
})

/** The message's files with their ids. */
export const filesOf = (account: ArchivedAccount, { chatId, files, record }: MessageSeen) =>
  Effect.forEach(
    files,
    (file) => Effect.map(fileId(account, `${chatId} ${record.id} ${file.messengerFile}`), (id) => ({ id, file }))
  )

/** The message with ids for its files. */
export const messageRecord = Effect.fnUntraced(function*(account: ArchivedAccount, message: MessageSeen) {
  const { expiresAt } = message
  const expiry = expiresAt === null ? {} : { expires_at: Math.floor(expiresAt.getTime() / 1000) }
  const record = { ...message.record, details: { ...message.record.details, ...expiry } }
  const files = yield* filesOf(account, message)
  if (files.length === 0) return record satisfies SeenMessage
  const named = files.map(({ file: { bytes, mimeType, name }, id }) => ({ id, name, mime_type: mimeType, bytes }))
  return { ...record, details: { ...record.details, files: named } } satisfies SeenMessage
})
