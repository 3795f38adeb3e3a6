/** Reading of an account's files: what their messages say of them, and their contents. */
import { Effect, Stream } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import type { ArchivedFile } from "../domain/archive/Message.ts"
import type { FileRecord, MessageKind, MessageRecord } from "../domain/archive/Records.ts"
import type { Content, ContentBroken } from "../domain/Content.ts"
import { safeFileName, safeMediaType } from "../domain/FileNames.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveFiles, type FileContent, type FileQuery, type FoundFile } from "../ports/archive/ArchiveFiles.ts"
import { ArchivePages } from "../ports/archive/ArchivePages.ts"
import { Db } from "../ports/Db.ts"
import { openBlob, openFileKey, type ReadStored } from "./BlobSealing.ts"
import { epochKeyOf, type OpenAccount, openEach, openInTurn } from "./OpenedFrames.ts"
import { frameBytesPerCall, revisionLimit } from "./Reader.ts"

/** A file with what its message says of it; null where the message does not open. */
interface NamedFile {
  readonly file: FoundFile
  readonly record: FileRecord | null
  readonly kind: MessageKind | null
}

const unnamed = { name: null, mime_type: "application/octet-stream" } as const

const archivedFile = ({ file, record }: NamedFile): ArchivedFile => ({
  object: "file",
  id: file.fileId,
  account_id: file.accountId,
  chat_id: String(file.chatId),
  message_id: String(file.messageId),
  name: (record ?? unnamed).name,
  mime_type: (record ?? unnamed).mime_type,
  bytes: record?.bytes ?? file.content?.bytes ?? 0,
  sha256: file.content === null ? null : hex(file.content.sha256),
  state: file.state,
  reason: file.reason,
  archived_at: file.state === "saved" ? file.at : null
})

const placeOf = (chatId: bigint, messageId: bigint) => `${chatId} ${messageId}`

/** The files of the messages as edits name them. */
const editedFiles = Effect.fnUntraced(function*(open: OpenAccount, files: ReadonlyArray<FoundFile>) {
  const places = new Map(files.map(({ chatId, messageId }) => [placeOf(chatId, messageId), { chatId, messageId }]))
  if (places.size === 0) return []
  const db = yield* Db
  const frames = yield* db.read(
    open.account.organizationId,
    ArchivePages.use((pages) => pages.editFrames(open.account, [...places.values()], revisionLimit, frameBytesPerCall))
  )
  const named = new Set(files.map(({ fileId }) => fileId))
  const found = new Map<string, FileRecord>()
  yield* openInTurn(open, "changes", frames, (records) => {
    for (const record of records ?? []) {
      if (record.change !== "edited") continue
      for (const file of record.details.files ?? []) if (named.has(file.id)) found.set(file.id, file)
    }
  })
  return found.values()
})

/** The files with their names: each page of messages is opened once. */
const named = Effect.fnUntraced(function*(open: OpenAccount, files: ReadonlyArray<FoundFile>) {
  if (files.length === 0) return []
  const db = yield* Db
  const frames = yield* db.read(
    open.account.organizationId,
    Effect.flatMap(ArchiveFiles, (port) => port.frames(open.account, files))
  )
  const opened = yield* openEach(open, "messages", frames)
  const messages = new Map<string, MessageRecord>()
  for (const [index, { chatId }] of frames.entries()) {
    for (const record of opened[index] ?? []) messages.set(placeOf(chatId, record.id), record)
  }
  const records = new Map(
    [...messages.values()].flatMap(({ details }) => details.files ?? []).map((record) => [record.id, record])
  )
  for (const record of yield* editedFiles(open, files.filter(({ fileId }) => !records.has(fileId)))) {
    records.set(record.id, record)
  }
  return files.map((file): NamedFile => ({
    file,
    record: records.get(file.fileId) ?? null,
    kind: messages.get(placeOf(file.chatId, file.messageId))?.kind ?? null
  }))
})

/** The file as it is answered. */
export const describeFile = Effect.fnUntraced(function*(open: OpenAccount, file: FoundFile) {
  const [described] = yield* named(open, [file])
  return archivedFile(described ?? { file, record: null, kind: null })
})

/** Rows that one list reads at most; where few are of the kind, the rest is on further pages. */
const rowsPerList = 500
/** Rows that are read at a time where the kind leaves some out. */
const rowsAtOnce = 100

/**
 * A page of files; null where there is none to start after. `next` is the file to go on after, which is not among the
 * answered ones where the kind leaves many out.
 */
export const listFiles = Effect.fnUntraced(function*(
  open: OpenAccount,
  query: FileQuery & { readonly kind: MessageKind | null }
) {
  const db = yield* Db
  const { kind, limit } = query
  const atOnce = kind === null ? limit : rowsAtOnce
  const files: Array<ArchivedFile> = []
  let after = query.after
  let unreadable = 0
  for (let read = 0; read < rowsPerList; read += atOnce) {
    const rows = yield* db.read(
      open.account.organizationId,
      Effect.flatMap(ArchiveFiles, (port) => port.list(open.account, { ...query, after, limit: atOnce + 1 }))
    )
    if (rows === null) return null
    for (const each of yield* named(open, rows.slice(0, atOnce))) {
      if (files.length === limit) return { files, next: after, unreadable }
      after = each.file.fileId
      if (each.record === null) unreadable++
      if (kind === null || each.kind === kind) files.push(archivedFile(each))
    }
    if (rows.length <= atOnce) return { files, next: null, unreadable }
    if (files.length === limit) break
  }
  return { files, next: after, unreadable }
})

/** The name of a file that its sender gave none. */
const nameless = (file: ArchivedFile): string => `file-${file.id.slice(0, 8)}`

/** The content of a saved file. Its key is opened now, and its object is read as the bytes are. */
export const openContent = Effect.fnUntraced(function*(
  open: OpenAccount,
  file: ArchivedFile,
  content: FileContent,
  read: ReadStored<ContentBroken, never>
) {
  const { account } = open
  const { blobId, bytes: size, epochId, key } = content
  const crypto = yield* ArchiveCrypto
  const fileKey = yield* openFileKey(yield* epochKeyOf(open, epochId), blobId, key)
  const answer: Content = {
    media_type: safeMediaType(file.mime_type),
    file_name: safeFileName(file.name, nameless(file)),
    size,
    ranges: true,
    version: file.sha256,
    bytes: (range) =>
      Stream.provideService(openBlob(fileKey, { ...account, blobId }, size, read, range), ArchiveCrypto, crypto)
  }
  return answer
})
