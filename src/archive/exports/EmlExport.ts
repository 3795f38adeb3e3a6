/** A day of a chat as one mail, as mail archives take it: the conversation as its text, the files attached. */
import { Stream } from "effect"
import {
  allReactions,
  chatTitle,
  type ExportedChat,
  type ExportedMessage,
  exportTime,
  otherWords,
  senderName
} from "./ExportedChat.ts"
import { headerText, mail, type MimePart, textPart } from "./Mime.ts"

/** Messages of one document of a day; a day with more has several. */
export const messagesPerDocument = 2000

/** The document's place among those of the chat's day. */
export interface DocumentPlace {
  readonly exportId: string
  readonly day: string
  /** From 0. */
  readonly piece: number
}

/** The content of a file of the export. */
export interface FileContent<E, R> {
  readonly name: string
  readonly type: string
  readonly content: Stream.Stream<Uint8Array, E, R>
}

/** The document's name without its extension. */
export const documentName = ({ day, piece }: DocumentPlace): string => piece === 0 ? day : `${day}-${piece + 1}`

const lineEnds = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/gu

const indented = (text: string): string => text.replaceAll(lineEnds, "\r\n    ")

/** A name in one line: what others chose as one begins no message of its own. */
const oneLine = (name: string): string => name.replaceAll(lineEnds, " ")

const lineOf = (message: ExportedMessage): string => {
  const { deletedAt, details, editsLeftOut, files, revisions } = message
  const reactions = allReactions(details)
  const words = [
    ...(details.forwarded_from === undefined ? [] : [`[forwarded from ${details.forwarded_from}]`]),
    ...(details.reply_to_id === undefined ? [] : [`[in reply to ${details.reply_to_id}]`]),
    ...(message.text === null ? [] : [message.text]),
    ...(details.caption === undefined ? [] : [details.caption]),
    ...otherWords(details),
    ...(reactions === null ? [] : [`[reactions: ${reactions}]`]),
    ...files.map(({ name, path, state }) =>
      `[file ${name ?? "without a name"}${path === null ? `, not included (${state})` : ""}]`
    ),
    ...(revisions.at(-1)?.edited_at === undefined ? [] : [
      `[edited; earlier versions: ${
        revisions.slice(0, -1).map(({ caption, text }) => text ?? caption ?? "").join(" | ")
      }]`
    ]),
    ...(editsLeftOut === 0 ? [] : [`[${editsLeftOut} edits before the last one are not included]`]),
    ...(deletedAt === null ? [] : [`[deleted on the messenger, noticed ${exportTime(deletedAt)}]`]),
    ...(details.redacted_at === undefined ? [] : [`[redacted ${exportTime(details.redacted_at)}]`])
  ]
  const body = words.length === 0 ? `[${message.kind}]` : words.join("\n")
  return `${exportTime(message.at)} #${message.id} ${oneLine(senderName(message.from))}:\r\n    ${indented(body)}\r\n`
}

/** The conversation as text. */
export const conversationText = (chat: ExportedChat, messages: ReadonlyArray<ExportedMessage>): string =>
  [
    `${oneLine(chatTitle(chat))} (${chat.type} chat ${chat.id}), as seen by ${
      oneLine(chat.account.name)
    }. Times are UTC.\r\n`,
    ...messages.map(lineOf)
  ].join("\r\n")

const mailDate = (at: number): string => new Date(at * 1000).toUTCString().replace("GMT", "+0000")

/** The headers that mails of both formats have. Addresses are of a domain that never exists (RFC 2606). */
export const mailHeaders = (
  chat: ExportedChat,
  messages: ReadonlyArray<ExportedMessage>,
  place: DocumentPlace
): ReadonlyArray<readonly [name: string, value: string]> => [
  ["From", `${headerText(chat.account.name)} <${chat.account.id}@archive.invalid>`],
  ["To", `${headerText(chatTitle(chat))} <chat${chat.id}@archive.invalid>`],
  ["Subject", headerText(`${chatTitle(chat)}, ${documentName(place)}`)],
  ["Date", mailDate(messages.at(-1)?.at ?? 0)],
  ["Message-ID", `<${place.exportId}.${chat.account.id}.${chat.id}.${documentName(place)}@archive.invalid>`]
]

/** The mail; `contents` are the files of its messages that are in the export. */
export const emlDocument = <E, R>(
  chat: ExportedChat,
  messages: ReadonlyArray<ExportedMessage>,
  place: DocumentPlace,
  contents: Stream.Stream<FileContent<E, R>, E, R>
): Stream.Stream<Uint8Array, E, R> => {
  const text: MimePart<E, R> = textPart(conversationText(chat, messages))
  return mail(
    mailHeaders(chat, messages, place),
    Stream.concat(
      Stream.succeed(text),
      Stream.map(contents, ({ content, name, type }): MimePart<E, R> => ({ name, type, content }))
    )
  )
}
