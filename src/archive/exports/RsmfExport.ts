/**
 * A day of a chat in the Relativity Short Message Format 2.0, as review platforms load it: a mail whose attachment
 * rsmf.zip has rsmf_manifest.json and the files.
 */
import { Stream } from "effect"
import { utf8 } from "../../domain/archive/Bytes.ts"
import { conversationText, type DocumentPlace, type FileContent, mailHeaders } from "./EmlExport.ts"
import {
  allReactions,
  chatTitle,
  type ExportedChat,
  type ExportedMessage,
  exportTime,
  otherWords,
  senderName
} from "./ExportedChat.ts"
import { mail, type MimePart, textPart } from "./Mime.ts"
import { zip, type ZipEntry } from "./Zip.ts"

const rsmfVersion = "2.0.0"

/** The name of a file in rsmf.zip, which has no folders. */
export const attachmentName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const isoOrNull = (date: Date | null | undefined): string | null => date?.toISOString() ?? null

const bodyOf = ({ details, kind, text }: ExportedMessage): string => {
  const words = [
    ...(text === null ? [] : [text]),
    ...(details.caption === undefined ? [] : [details.caption]),
    ...otherWords(details)
  ]
  return words.length === 0 ? kind === "text" ? "" : `[${kind}]` : words.join("\n")
}

const editsOf = (participant: string, { revisions }: ExportedMessage): ReadonlyArray<object> =>
  revisions.slice(1).map((revision, index) => ({
    participant,
    timestamp: isoOrNull(revision.edited_at) ?? revision.seen_at.toISOString(),
    previous: revisions[index]?.text ?? revisions[index]?.caption ?? "",
    new: revision.text ?? revision.caption ?? ""
  }))

const custom = (values: Readonly<Record<string, string | null>>): ReadonlyArray<object> =>
  Object.entries(values).flatMap(([name, value]) => value === null ? [] : [{ name, value }])

/** The participants and events of rsmf_manifest.json. */
const rsmfManifest = (chat: ExportedChat, messages: ReadonlyArray<ExportedMessage>): object => {
  const senders = new Map<string, { readonly id: string; readonly display: string }>()
  const ids = new Set(messages.map(({ id }) => String(id)))
  const events = messages.map((message) => {
    const { deletedAt, details, files, from } = message
    const participant = from === null ? "unknown" : `sender ${from.id}`
    if (!senders.has(participant)) senders.set(participant, { id: participant, display: senderName(from) })
    const reply = details.reply_to_id
    const attachments = files.flatMap(({ bytes, name, path }) =>
      path === null ? [] : [{ id: attachmentName(path), display: name ?? attachmentName(path), size: bytes }]
    )
    const edits = editsOf(participant, message)
    const further = custom({
      reactions: allReactions(details),
      forwarded_from: details.forwarded_from ?? null,
      in_reply_to: reply === undefined || ids.has(reply) ? null : reply,
      deleted_noticed_at: deletedAt === null ? null : exportTime(deletedAt),
      redacted_at: details.redacted_at === undefined ? null : exportTime(details.redacted_at),
      files_not_included: files.filter(({ path }) => path === null).map(({ name }) => name ?? "file").join(", ") || null
    })
    return {
      id: String(message.id),
      type: "message",
      conversation: "chat",
      participant,
      timestamp: exportTime(message.at),
      body: bodyOf(message),
      ...(reply !== undefined && ids.has(reply) && reply !== String(message.id) ? { parent: reply } : {}),
      ...(deletedAt === null ? {} : { deleted: true }),
      ...(edits.length === 0 ? {} : { edits }),
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(further.length === 0 ? {} : { custom: further })
    }
  })
  return {
    version: rsmfVersion,
    participants: [...senders.values()],
    conversations: [{
      id: "chat",
      platform: "messenger",
      type: chat.type === "private" || chat.type === "bot" || chat.type === "saved" ? "direct" : "channel",
      display: chatTitle(chat),
      participants: [...senders.keys()],
      custom: custom({ chat_id: String(chat.id), account_id: chat.account.id, custodian: chat.account.name })
    }],
    events
  }
}

/** The mail; `contents` are the files of its messages that are in the export, by their names in rsmf.zip. */
export const rsmfDocument = <E, R>(
  chat: ExportedChat,
  messages: ReadonlyArray<ExportedMessage>,
  place: DocumentPlace,
  contents: Stream.Stream<FileContent<E, R>, E, R>
): Stream.Stream<Uint8Array, E, R> => {
  const manifest: ZipEntry<E, R> = {
    path: "rsmf_manifest.json",
    content: Stream.succeed(utf8(JSON.stringify(rsmfManifest(chat, messages))))
  }
  const entries = Stream.concat(
    Stream.succeed(manifest),
    Stream.map(contents, ({ content, name }): ZipEntry<E, R> => ({ path: name, content }))
  )
  const attached: MimePart<E, R> = { type: "application/zip", name: "rsmf.zip", content: zip(entries) }
  const text: MimePart<E, R> = textPart(conversationText(chat, messages))
  return mail([
    ["X-RSMF-Version", rsmfVersion],
    ["X-RSMF-Generator", "Organization Security Console"],
    ["X-RSMF-BeginDate", exportTime(messages[0]?.at ?? 0)],
    ["X-RSMF-EndDate", exportTime(messages.at(-1)?.at ?? 0)],
    ["X-RSMF-EventCount", String(messages.length)],
    ...mailHeaders(chat, messages, place)
  ], Stream.make(text, attached))
}
