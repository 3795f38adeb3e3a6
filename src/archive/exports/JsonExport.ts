/** Chats in the shape of the messenger's own export: `result.json`, with edits and deletions, which that one does not have. */
import type { ChatType } from "../../domain/archive/Chat.ts"
import type { MessageDetails } from "../../domain/archive/Records.ts"
import { type ExportedChat, type ExportedFile, type ExportedMessage, exportTime } from "./ExportedChat.ts"

const types: Readonly<Record<ChatType, string>> = {
  private: "personal_chat",
  group: "private_group",
  channel: "private_channel",
  bot: "bot_chat",
  saved: "saved_messages"
}

/** The least id of a channel or supergroup as the messenger marks it. */
const marked = -1_000_000_000_000n

const numeric = /^-?[1-9]\d{0,18}$/u

/** An id as a number where every reader keeps it, else as text. */
const idOf = (id: bigint): number | string => Number.isSafeInteger(Number(id)) ? Number(id) : String(id)

/** Users, channels and basic groups as that export tells them apart. */
const fromId = (id: string): string => {
  if (!numeric.test(id)) return id
  const value = BigInt(id)
  return value > 0n ? `user${value}` : value < marked ? `channel${marked - value}` : `group${-value}`
}

type Entities = MessageDetails["entities"]

interface TextEntity {
  readonly type: string
  readonly text: string
  readonly href?: string
}

/** The text in pieces, each of one style; an entity that overlaps the one before it, or lies outside, is left out. */
const entitiesOf = (text: string, entities: Entities): ReadonlyArray<TextEntity> => {
  const pieces: Array<TextEntity> = []
  let at = 0
  const plain = (until: number) => {
    if (until > at) pieces.push({ type: "plain", text: text.slice(at, until) })
  }
  for (const { length, offset, type, url } of [...entities ?? []].sort((one, other) => one.offset - other.offset)) {
    if (offset < at || length <= 0 || offset + length > text.length) continue
    plain(offset)
    pieces.push({
      type: url === undefined ? type : "text_link",
      text: text.slice(offset, offset + length),
      ...(url === undefined ? {} : { href: url })
    })
    at = offset + length
  }
  plain(text.length)
  return pieces
}

const mediaTypes: Readonly<Record<string, string>> = {
  sticker: "sticker",
  video: "video_file",
  voice: "voice_message"
}

/** The content of a file that is not in the export, in the words of that export. */
const absent = "(File not included. Change data exporting settings to download.)"

const fileMembers = (kind: ExportedMessage["kind"], file: ExportedFile | undefined) => {
  if (file === undefined) return {}
  const path = file.path ?? absent
  if (kind === "photo") return { photo: path, photo_file_size: file.bytes }
  return {
    file: path,
    ...(file.name === null ? {} : { file_name: file.name }),
    file_size: file.bytes,
    ...(mediaTypes[kind] === undefined ? {} : { media_type: mediaTypes[kind] }),
    mime_type: file.mime_type
  }
}

const filesOf = (files: ReadonlyArray<ExportedFile>) =>
  files.map(({ bytes, id, mime_type, name, path, sha256, state }) => ({
    id,
    name,
    mime_type,
    bytes,
    sha256,
    state,
    path
  }))

/** A message as that export has it, and `edits`, `deleted_at` and what else only the archive knows. */
const jsonMessage = (message: ExportedMessage): object => {
  const { at, deletedAt, details, from, kind, revisions } = message
  const text = message.text ?? details.caption ?? ""
  const entities = entitiesOf(text, details.entities)
  const name = from === null ? null : from.name
  const lastEdit = revisions.at(-1)?.edited_at ??
    (details.edited_at === undefined ? null : new Date(details.edited_at * 1000))
  const [file, ...further] = message.files
  const service = kind === "service"
  return {
    id: idOf(message.id),
    type: service ? "service" : "message",
    date: exportTime(at, ""),
    date_unixtime: String(at),
    ...(lastEdit === null ? {} : {
      edited: lastEdit.toISOString().slice(0, 19),
      edited_unixtime: String(Math.floor(lastEdit.getTime() / 1000))
    }),
    ...(service
      ? { actor: name, actor_id: from === null ? null : fromId(from.id), action: details.service ?? "" }
      : { from: name, from_id: from === null ? null : fromId(from.id) }),
    ...(from?.username === undefined || from.username === null ? {} : { from_username: from.username }),
    ...(details.outgoing === true ? { out: true } : {}),
    ...(details.forwarded_from === undefined ? {} : { forwarded_from: details.forwarded_from }),
    ...(details.reply_to_id === undefined ? {} : {
      reply_to_message_id: numeric.test(details.reply_to_id) ? idOf(BigInt(details.reply_to_id)) : details.reply_to_id
    }),
    ...fileMembers(kind, file),
    ...(message.files.length === 0 ? {} : { files: filesOf([...(file === undefined ? [] : [file]), ...further]) }),
    ...(details.sticker === undefined ? {} : {
      media_type: "sticker",
      sticker_id: details.sticker.id,
      sticker_emoji: details.sticker.emoji
    }),
    ...(details.poll === undefined ? {} : {
      poll: {
        question: details.poll[0] ?? "",
        answers: details.poll.slice(1).map((answer) => ({ text: answer }))
      }
    }),
    ...(details.contact === undefined ? {} : {
      contact_information: { first_name: details.contact[0] ?? "", phone_number: details.contact[1] ?? "" }
    }),
    ...(details.reactions === undefined ? {} : {
      reactions: details.reactions.map(({ count, emoji, emoji_id }) => ({
        ...(emoji !== undefined
          ? { type: "emoji", emoji }
          : emoji_id !== undefined
          ? { type: "custom_emoji", document_id: emoji_id }
          : { type: "paid" }),
        count
      }))
    }),
    ...(details.transcript === undefined ? {} : { transcript: details.transcript }),
    text: entities.every(({ type }) => type === "plain")
      ? text
      : entities.map((piece) => piece.type === "plain" ? piece.text : piece),
    text_entities: entities,
    ...(revisions.length === 0 ? {} : {
      edits: revisions.map((revision) => ({
        text: revision.text,
        caption: revision.caption,
        edited_at: revision.edited_at?.toISOString() ?? null,
        seen_at: revision.seen_at.toISOString()
      }))
    }),
    ...(message.lostEdits === 0 ? {} : { unreadable_edits: message.lostEdits }),
    ...(message.editsLeftOut === 0 ? {} : { edits_left_out: message.editsLeftOut }),
    ...(deletedAt === null ? {} : { deleted_at: exportTime(deletedAt) }),
    ...(details.redacted_at === undefined ? {} : { redacted_at: exportTime(details.redacted_at) }),
    archived_at: exportTime(message.archivedAt)
  }
}

/** The document before its first message. */
export const jsonHead = (chat: ExportedChat): string => {
  const head = JSON.stringify({
    name: chat.title,
    type: types[chat.type],
    id: idOf(chat.id),
    username: chat.username,
    account: chat.account,
    dates: "UTC"
  })
  return `${head.slice(0, -1)},"messages":[`
}

/** The messages of a batch, after as many others. */
export const jsonMessages = (messages: ReadonlyArray<ExportedMessage>, before: number): string =>
  messages.map((message, index) => `${before + index === 0 ? "" : ","}\n${JSON.stringify(jsonMessage(message))}`).join(
    ""
  )

export const jsonEnd = "\n]}\n"
