/** Opened messages of a chat for an export: in the order of their ids, few at a time, as they were when it was made. */
import { Effect, Option, Stream } from "effect"
import { hex } from "../../domain/archive/Bytes.ts"
import { messageEdits } from "../../domain/archive/Message.ts"
import { byId } from "../../domain/archive/MessageIds.ts"
import { piecesOf } from "../../domain/archive/PageRules.ts"
import type { EditRecord, MessageRecord } from "../../domain/archive/Records.ts"
import { ArchivePages } from "../../ports/archive/ArchivePages.ts"
import { type ExportDays, ExportRecords, type FrameRange } from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import { type OpenAccount, openEach } from "../OpenedFrames.ts"
import { laterFiles } from "../Reader.ts"
import type { ExportedMessage } from "./ExportedChat.ts"
import { filePath } from "./ExportNames.ts"
import type { ExportTally } from "./ExportTally.ts"

/** Pages that are opened together, and messages whose changes are looked up together. */
const pagesAtOnce = 64
const messagesAtOnce = 250

/** The account, and the moment of the export: what was archived or seen later is not in it. */
export interface ExportScope {
  readonly open: OpenAccount
  readonly days: ExportDays
  readonly until: Date
  readonly media: boolean
  readonly tally: ExportTally
}

/** The progress through a chat. */
interface Progress {
  readonly ranges: ReadonlyArray<FrameRange> | null
  readonly next: number
  readonly waiting: ReadonlyArray<MessageRecord>
  /** Every message up to here was answered. */
  readonly above: bigint | null
}

const begun: Progress = { ranges: null, next: 0, waiting: [], above: null }

const isKnown = (until: Date, seconds: number): boolean => seconds * 1000 <= until.getTime()

const isAbove = ({ above }: Progress, { id }: MessageRecord): boolean => above === null || id > above

/** The messages as they were at the export's moment. */
const complete = Effect.fnUntraced(
  function*({ media, open, tally, until }: ExportScope, chatId: bigint, records: ReadonlyArray<MessageRecord>) {
    const { account } = open
    const db = yield* Db
    const exports = yield* ExportRecords
    const pages = yield* ArchivePages
    const withFiles = records.flatMap(({ details, id }) =>
      details.files === undefined ? [] : [{ chatId, messageId: id }]
    )
    const { changes, files } = yield* db.read(
      account.organizationId,
      Effect.all({
        changes: exports.changes(account, chatId, records.map(({ id }) => id), until),
        files: pages.files(account, withFiles)
      }, { concurrency: "unbounded" })
    )
    const opened = yield* openEach(open, "changes", changes.frames.map((frames) => ({ ...frames, chatId })))
    const edits = new Map<string, Array<EditRecord>>()
    for (const record of opened.flatMap((found) => found ?? [])) {
      if (record.change !== "edited" || !isKnown(until, record.seen_at)) continue
      const known = edits.get(record.id)
      if (known === undefined) edits.set(record.id, [record])
      else known.push(record)
    }
    const later = yield* laterFiles(
      open,
      records.map((record) => ({ chatId, record, edits: edits.get(String(record.id)) }))
    )
    const stored = new Map([...files, ...later].map((file) => [file.fileId, file] as const))
    return records.map((record): ExportedMessage => {
      const mine = edits.get(String(record.id)) ?? []
      const newest = mine.toSorted((one, other) => (one.edited_at ?? 0) - (other.edited_at ?? 0)).at(-1)
      const details = newest?.details ?? record.details
      const deletedAt = changes.deleted.get(record.id)
      const lostEdits = Math.max(0, (changes.edited.get(record.id) ?? 0) - mine.length)
      tally.messages++
      tally.edits += mine.length
      tally.lostEdits += lostEdits
      if (deletedAt !== undefined) tally.deleted++
      return {
        id: record.id,
        at: record.at,
        archivedAt: record.archivedAt,
        from: record.from,
        kind: record.kind,
        text: newest === undefined ? record.text : newest.text,
        details,
        files: (details.files ?? []).map((file, place) => {
          const found = stored.get(file.id)
          const isThere = found !== undefined && found.at <= until
          const isIncluded = media && isThere && found.state === "saved"
          return {
            ...file,
            state: isThere || found?.state === "deleted" ? found.state : "pending",
            sha256: isThere && found.sha256 !== null ? hex(found.sha256) : null,
            path: isIncluded ? filePath(record.id, place, file.name, file.mime_type) : null
          }
        }),
        revisions: mine.length === 0 ? [] : messageEdits(record, mine),
        lostEdits,
        deletedAt: deletedAt === undefined ? null : Math.floor(deletedAt.getTime() / 1000)
      }
    })
  }
)

const stepped = (messages: ReadonlyArray<ExportedMessage>, next: Progress | null) =>
  [messages, Option.fromNullishOr(next)] as const

/**
 * One step: opens the next pages, and answers the messages below every page that is left. A page that is gone was closed
 * from the tail or deleted meanwhile: what is left is then asked for again.
 */
const step = Effect.fnUntraced(function*(scope: ExportScope, chatId: bigint, progress: Progress) {
  const { days, open, tally, until } = scope
  const { account } = open
  const db = yield* Db
  const exports = yield* ExportRecords
  const ranges = progress.ranges ??
    (yield* db.read(account.organizationId, exports.ranges(account, chatId, days, progress.above)))
  const asked = ranges.slice(progress.next, progress.next + pagesAtOnce)
  const rows = asked.length === 0
    ? []
    : yield* db.read(
      account.organizationId,
      exports.messages(account, chatId, asked.map(({ number }) => number))
    )
  if (rows.length < asked.length) {
    return stepped([], { ...progress, ranges: null, next: 0, waiting: [] })
  }
  const records = yield* openEach(open, "messages", rows.map((row) => ({ ...row, chatId })))
  const found = new Map(progress.waiting.map((record) => [record.id, record] as const))
  for (const [index, { digest, ids, number }] of rows.entries()) {
    const opened = records[index] ?? null
    if (digest !== null) tally.addPage(number, digest)
    if (opened === null) tally.unreadable += ids.length
    for (const record of opened ?? []) {
      if (isAbove(progress, record) && isKnown(until, record.archivedAt)) found.set(record.id, record)
    }
  }
  const next = progress.next + asked.length
  const bound = ranges[next]?.firstId ?? null
  const sorted = [...found.values()].sort(byId)
  const settled = bound === null ? sorted : sorted.filter(({ id }) => id < bound)
  const messages: Array<ExportedMessage> = []
  for (const piece of piecesOf(settled, messagesAtOnce)) {
    for (const message of yield* complete(scope, chatId, piece)) messages.push(message)
  }
  const rest: Progress = {
    ranges,
    next,
    waiting: bound === null ? [] : sorted.filter(({ id }) => id >= bound),
    above: settled.at(-1)?.id ?? progress.above
  }
  return stepped(messages, bound === null ? null : rest)
})

/** The messages of a chat. */
export const exportedMessages = (scope: ExportScope, chatId: bigint) =>
  Stream.paginate(begun, (progress) => step(scope, chatId, progress))

/** The title that the chat had last before the export was made; null where none is known. */
export const exportedTitle = Effect.fnUntraced(function*({ open, tally, until }: ExportScope, chatId: bigint) {
  const db = yield* Db
  const exports = yield* ExportRecords
  const frames = yield* db.read(open.account.organizationId, exports.titles(open.account, chatId))
  const opened = yield* openEach(open, "chat", frames.map((frame) => ({ ...frame, chatId })))
  if (opened.includes(null)) tally.lostTitles++
  const known = opened.flatMap((records) => records ?? []).filter(({ seen_at }) => isKnown(until, seen_at))
  return known.toSorted((one, other) => one.seen_at - other.seen_at).at(-1) ?? null
})
