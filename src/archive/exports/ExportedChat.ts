/** Opened messages as the formats of exports are given them. */
import type { ChatType } from "../../domain/archive/Chat.ts"
import type { ArchivedFile, MessageEdit } from "../../domain/archive/Message.ts"
import { reactionWords } from "../../domain/archive/Reactions.ts"
import type { MessageDetails, MessageRecord, SenderRecord } from "../../domain/archive/Records.ts"

/** The account that saw the chats, as it was called when the export was made. */
export interface ExportedAccount {
  readonly id: string
  readonly name: string
}

/** A chat of an export; `folder` is its path in the ZIP, without a slash at its end. */
export interface ExportedChat {
  readonly account: ExportedAccount
  readonly id: bigint
  readonly type: ChatType
  readonly title: string | null
  readonly username: string | null
  readonly folder: string
}

/** A file of a message. `path` is its place beside the chat's documents; null where its content is not in the export. */
export interface ExportedFile extends Pick<ArchivedFile, "bytes" | "id" | "mime_type" | "name" | "sha256" | "state"> {
  readonly path: string | null
}

/** A message with all that became of it until the export was made: `text` and `details` are the newest. */
export interface ExportedMessage extends Omit<MessageRecord, "unknown"> {
  readonly files: ReadonlyArray<ExportedFile>
  /** The revisions, the first one as it was first seen; none where there is no edit. */
  readonly revisions: ReadonlyArray<MessageEdit>
  /** Edits whose text does not open. */
  readonly lostEdits: number
  /** Edits before the newest that a message with very many has no room for. */
  readonly editsLeftOut: number
  readonly deletedAt: number | null
}

/** The chat's title, or what else there is to call it by. */
export const chatTitle = (
  { id, title, type, username }: Pick<ExportedChat, "id" | "title" | "type" | "username">
): string => title !== null && title !== "" ? title : type === "saved" ? "Saved messages" : username ?? `Chat ${id}`

export const senderName = (from: SenderRecord | null): string =>
  from === null
    ? "Unknown sender"
    : from.name !== null && from.name !== ""
    ? from.name
    : from.username ?? `User ${from.id}`

/** The day in UTC of Unix seconds: `YYYY-MM-DD`. */
export const exportDay = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)

/** Unix seconds as `YYYY-MM-DDTHH:MM:SS`, with `Z` where asked for. */
export const exportTime = (at: number, zone: "" | "Z" = "Z"): string =>
  `${new Date(at * 1000).toISOString().slice(0, 19)}${zone}`

/** Words of a message that has no text of its own, such as a poll or a contact. */
export const otherWords = (
  { contact, poll, service, sticker, transcript }: MessageDetails
): ReadonlyArray<string> => [
  ...(sticker === undefined ? [] : [`Sticker: ${sticker.emoji ?? sticker.id}`]),
  ...(service === undefined ? [] : [service]),
  ...(poll === undefined ? [] : [`Poll: ${poll.join(" / ")}`]),
  ...(contact === undefined ? [] : [`Contact: ${contact.join(", ")}`]),
  ...(transcript === undefined ? [] : [`Transcript: ${transcript}`])
]

/** The reactions to the message with their numbers; null without any. */
export const allReactions = ({ reactions }: MessageDetails): string | null =>
  reactions === undefined ? null : reactions.map(reactionWords).join(", ")
