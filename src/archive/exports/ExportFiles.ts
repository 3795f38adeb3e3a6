/** The files of a part in each format, in their order: documents of each chat, and the contents that they name. */
import { Effect, Option, Stream } from "effect"
import type { ExportFormat } from "../../domain/archive/ArchiveExport.ts"
import { utf8 } from "../../domain/archive/Bytes.ts"
import type { ContentBroken } from "../../domain/Content.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import { type ChatOfDays, ExportRecords } from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import { documentName, type DocumentPlace, emlDocument, type FileContent, messagesPerDocument } from "./EmlExport.ts"
import type { ContentUnreadable, StoreSilent } from "./ExportContents.ts"
import { chatTitle, exportDay, type ExportedChat, type ExportedFile, type ExportedMessage } from "./ExportedChat.ts"
import { unreadableFile } from "./ExportManifest.ts"
import { chatFolder } from "./ExportNames.ts"
import { exportedMessages, exportedTitle, type ExportScope } from "./ExportReader.ts"
import {
  type AddressOfMessage,
  htmlIndex,
  htmlPage,
  htmlPageName,
  type ListedChat,
  messagesPerHtmlPage
} from "./HtmlExport.ts"
import { jsonEnd, jsonHead, jsonMessages } from "./JsonExport.ts"
import { attachmentName, rsmfDocument } from "./RsmfExport.ts"
import type { ZipEntry } from "./Zip.ts"

const chatsAtOnce = 100
const quoteLength = 120

/** Causes of an export's early end. */
export type ExportEnded = ContentBroken | ServiceUnavailable | StoreSilent

/** Reads the content of an archived file. */
export type ReadContent<R> = (file: ExportedFile) => Stream.Stream<Uint8Array, ContentUnreadable | ExportEnded, R>

/** A part as its files are made. */
export interface ExportPart<R> extends ExportScope {
  readonly exportId: string
  readonly format: ExportFormat
  readonly title: string
  readonly account: ExportedChat["account"]
  readonly read: ReadContent<R>
}

interface Seen {
  messages: number
  firstAt: number
  lastAt: number
}

type Messages = ReadonlyArray<ExportedMessage>

const included = (messages: Messages): ReadonlyArray<ExportedFile & { readonly path: string }> =>
  messages.flatMap(({ files }) => files.flatMap((file) => file.path === null ? [] : [{ ...file, path: file.path }]))

const text = (path: string, content: string): ZipEntry => ({ path, content: Stream.sync(() => utf8(content)) })

/** The content as far as it opens: its bytes are sent by the time that one does not, so that the manifest says the rest. */
const readable = <R>(
  { read, tally }: ExportPart<R>,
  file: ExportedFile,
  path: string,
  attachment: string | null
): Stream.Stream<Uint8Array, ExportEnded, R> =>
  Stream.suspend(() => {
    let bytes = 0
    return read(file).pipe(
      Stream.map((piece) => {
        bytes += piece.length
        return piece
      }),
      Stream.catchTag("ContentUnreadable", ({ reason }) =>
        Stream.suspend(() => {
          tally.unreadableFiles.push(unreadableFile({ path, attachment, size: file.bytes, bytes, reason }))
          return Stream.empty
        }))
    )
  })

/** The contents that messages name, as files beside the chat's documents. */
const contentsOf = <R>(part: ExportPart<R>, chat: ExportedChat, messages: Messages) =>
  included(messages).map((file): ZipEntry<ExportEnded, R> => {
    part.tally.files++
    const path = `${chat.folder}/${file.path}`
    return { path, content: readable(part, file, path, null) }
  })

/** `result.json` is one document, whatever its length; the files come after it. */
const jsonFiles = <R, R2>(
  part: ExportPart<R>,
  chat: ExportedChat,
  batches: Stream.Stream<Messages, ExportEnded, R2>
): Stream.Stream<ZipEntry<ExportEnded, R | R2>, ExportEnded, R2> =>
  Stream.suspend(() => {
    const files: Array<ZipEntry<ExportEnded, R>> = []
    let before = 0
    const content = Stream.succeed(utf8(jsonHead(chat))).pipe(
      Stream.concat(Stream.map(batches, (messages) => {
        for (const file of contentsOf(part, chat, messages)) files.push(file)
        const written = utf8(jsonMessages(messages, before))
        before += messages.length
        return written
      })),
      Stream.concat(Stream.succeed(utf8(jsonEnd)))
    )
    const document: ZipEntry<ExportEnded, R | R2> = { path: `${chat.folder}/result.json`, content }
    return Stream.concat(Stream.succeed(document), Stream.suspend(() => Stream.fromIterable(files)))
  })

/** Finds the page of a message by the lowest ids of the pages so far, and its words where it is on this page. */
const addresses = (lowest: ReadonlyArray<bigint>, messages: Messages): AddressOfMessage => {
  const here = new Map(messages.map((message) => [String(message.id), message] as const))
  return (id) => {
    if (!/^[1-9]\d{0,18}$/u.test(id)) return null
    const page = lowest.findLastIndex((low) => low <= BigInt(id))
    if (page === -1) return null
    const found = here.get(id)
    const isHere = page === lowest.length - 1
    if (isHere && found === undefined) return null
    const words = found === undefined ? null : found.text ?? found.details.caption ?? null
    return {
      address: `${isHere ? "" : htmlPageName(page)}#m${id}`,
      quote: words === null ? null : words.slice(0, quoteLength).toWellFormed()
    }
  }
}

const htmlFiles = <R, R2>(
  part: ExportPart<R>,
  chat: ExportedChat,
  batches: Stream.Stream<Messages, ExportEnded, R2>
): Stream.Stream<ZipEntry<ExportEnded, R>, ExportEnded, R2> =>
  Stream.suspend(() => {
    const lowest: Array<bigint> = []
    return batches.pipe(
      Stream.flattenIterable,
      Stream.grouped(messagesPerHtmlPage),
      Stream.zipWithNext,
      Stream.map(([messages, next]): ReadonlyArray<ZipEntry<ExportEnded, R>> => {
        const page = lowest.length
        lowest.push(messages[0]?.id ?? 0n)
        const place = { page, hasNext: Option.isSome(next), addresses: addresses(lowest, messages) }
        return [
          text(`${chat.folder}/${htmlPageName(page)}`, htmlPage(chat, messages, place)),
          ...contentsOf(part, chat, messages)
        ]
      }),
      Stream.flattenIterable
    )
  })

/** A mail for each day of the chat, or several where the day has many messages. */
const dayFiles = <R, R2>(
  part: ExportPart<R>,
  chat: ExportedChat,
  batches: Stream.Stream<Messages, ExportEnded, R2>,
  format: "eml" | "rsmf"
): Stream.Stream<ZipEntry<ExportEnded, R>, ExportEnded, R2> =>
  Stream.suspend(() => {
    const pieces = new Map<string, number>()
    const days = batches.pipe(
      Stream.flattenIterable,
      Stream.mapAccum(
        (): { held: Array<ExportedMessage> } => ({ held: [] }),
        (state, message) => {
          const [first] = state.held
          const isFull = state.held.length === messagesPerDocument
          if (first !== undefined && (isFull || exportDay(first.at) !== exportDay(message.at))) {
            const done = state.held
            return [{ held: [message] }, [done]]
          }
          state.held.push(message)
          return [state, []]
        },
        { onHalt: ({ held }) => held.length === 0 ? [] : [held] }
      )
    )
    return Stream.map(days, (messages): ZipEntry<ExportEnded, R> => {
      const day = exportDay(messages[0]?.at ?? 0)
      const piece = pieces.get(day) ?? 0
      pieces.set(day, piece + 1)
      const place: DocumentPlace = { exportId: part.exportId, day, piece }
      const path = `${chat.folder}/${documentName(place)}.${format}`
      const files = included(messages)
      part.tally.files += files.length
      const contents = Stream.fromIterable(files.map((file): FileContent<ExportEnded, R> => {
        const name = attachmentName(file.path)
        return { name, type: file.mime_type, content: readable(part, file, path, name) }
      }))
      const make = format === "eml" ? emlDocument : rsmfDocument
      return { path, content: make(chat, messages, place, contents) }
    })
  })

const filesOfChat = Effect.fnUntraced(function*<R>(
  part: ExportPart<R>,
  found: Pick<ExportedChat, "id" | "type">,
  listed: Array<ListedChat>
) {
  const record = yield* exportedTitle(part, found.id)
  const named = { ...found, title: record?.title ?? null, username: record?.username ?? null }
  const chat: ExportedChat = { ...named, account: part.account, folder: chatFolder(found.id, chatTitle(named)) }
  const seen: Seen = { messages: 0, firstAt: 0, lastAt: 0 }
  const batches = exportedMessages(part, found.id).pipe(
    Stream.chunks,
    Stream.tap((messages) =>
      Effect.sync(() => {
        if (seen.messages === 0) seen.firstAt = messages[0].at
        seen.messages += messages.length
        seen.lastAt = messages.at(-1)?.at ?? seen.lastAt
      })
    )
  )
  const files = part.format === "json"
    ? jsonFiles(part, chat, batches)
    : part.format === "html"
    ? htmlFiles(part, chat, batches)
    : dayFiles(part, chat, batches, part.format)
  return Stream.ensuring(
    files,
    Effect.sync(() => {
      if (seen.messages > 0) listed.push({ chat, ...seen })
    })
  )
})

/** All files of a part but its manifest. */
export const exportFiles = <R>(part: ExportPart<R>) =>
  Stream.suspend(() => {
    const { days, format, open, title } = part
    const { account } = open
    const listed: Array<ListedChat> = []
    const chats = Stream.paginate<bigint | null, ChatOfDays, ExportEnded, Db | ExportRecords>(
      null,
      Effect.fnUntraced(function*(after: bigint | null) {
        const db = yield* Db
        const exports = yield* ExportRecords
        const found = yield* db.read(account.organizationId, exports.chats(account, days, after, chatsAtOnce))
        const last = found.at(-1)
        return [
          found,
          last === undefined || found.length < chatsAtOnce ? Option.none() : Option.some(last.chatId)
        ] as const
      })
    )
    const files = Stream.flatMap(
      chats,
      ({ chatId, type }) => Stream.unwrap(filesOfChat(part, { id: chatId, type }, listed))
    )
    const index = Stream.suspend(() =>
      format === "html" ? Stream.succeed(text("index.html", htmlIndex(title, listed))) : Stream.empty
    )
    return Stream.concat(files, index)
  })
