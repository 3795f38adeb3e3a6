/** Opened messages of a chat for an export: in the order of their ids, few at a time, as they were when it was made. */
import { Effect, Option, Stream } from "effect"
import { hex } from "../../domain/archive/Bytes.ts"
import { messageEdits } from "../../domain/archive/Message.ts"
import { byId } from "../../domain/archive/MessageIds.ts"
import { frameBytesAtOnce, piecesOf, piecesWithin } from "../../domain/archive/PageRules.ts"
import type { EditRecord, MessageRecord } from "../../domain/archive/Records.ts"
import { byAge } from "../../domain/archive/Revisions.ts"
import {
  type ExportChanges,
  type ExportDays,
  ExportRecords,
  type FrameRange,
  type FrameSize
} from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import { type OpenAccount, openEach, openInTurn } from "../OpenedFrames.ts"
import { revisionLimit, storedFiles } from "../Reader.ts"
import type { ExportedMessage } from "./ExportedChat.ts"
import { filePath } from "./ExportNames.ts"
import type { ExportTally } from "./ExportTally.ts"

/** Pages that are opened together, and messages whose changes are looked up together. */
const pagesAtOnce = 64
const messagesAtOnce = 250

/** Edits of messages that are held together, and frames of them that are read together. */
const editsAtOnce = 2000
const editFramesAtOnce = 1000

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

/** Messages of a chat with their changes; of these at least one, and further ones while they have few edits. */
interface Piece {
  readonly records: ReadonlyArray<MessageRecord>
  readonly changes: ExportChanges
}

/** Edits of the message that are exported: the oldest ones and the newest. */
const keptOf = ({ edited }: ExportChanges, { id }: MessageRecord): number =>
  Math.min(edited.get(id) ?? 0, revisionLimit + 1)

/** Looks up the changes of messages, which are then completed in pieces. */
const withChanges = Effect.fnUntraced(
  function*({ open, until }: ExportScope, chatId: bigint, records: ReadonlyArray<MessageRecord>) {
    const { account } = open
    const db = yield* Db
    const exports = yield* ExportRecords
    const changes = yield* db.read(
      account.organizationId,
      exports.changes(account, chatId, records.map(({ id }) => id), until)
    )
    return piecesWithin(records, (record) => keptOf(changes, record), editsAtOnce)
      .map((piece): Piece => ({ records: piece, changes }))
  }
)

/** The oldest edits and the newest, in their order. */
const kept = (edits: ReadonlyArray<EditRecord>): Array<EditRecord> => {
  const sorted = edits.toSorted(byAge)
  return sorted.length <= revisionLimit + 1 ? sorted : [...sorted.slice(0, revisionLimit), ...sorted.slice(-1)]
}

/** The edits of the messages in the places, by message; null where one of these is gone. */
const readPlaces = Effect.fnUntraced(
  function*(
    { open, until }: ExportScope,
    chatId: bigint,
    ids: ReadonlyArray<bigint>,
    places: ReadonlyArray<FrameSize>
  ) {
    const { account } = open
    const db = yield* Db
    const exports = yield* ExportRecords
    const edits = new Map(ids.map((id): [string, Array<EditRecord>] => [String(id), []]))
    for (const piece of piecesWithin(places, ({ bytes }) => bytes, frameBytesAtOnce, editFramesAtOnce)) {
      const numbers = piece.map(({ number }) => number)
      const rows = yield* db.read(account.organizationId, exports.frames(account, chatId, numbers))
      if (rows.length < piece.length) return null
      yield* openInTurn(open, "changes", rows.map((row) => ({ ...row, chatId })), (records) => {
        for (const record of records ?? []) {
          if (record.change === "edited" && isKnown(until, record.seen_at)) edits.get(record.id)?.push(record)
        }
      })
      // Frames have other edits of these messages too.
      for (const [id, found] of edits) if (found.length > 2 * revisionLimit) edits.set(id, kept(found))
    }
    for (const [id, found] of edits) edits.set(id, kept(found))
    return edits
  }
)

/**
 * The edits of the messages that are exported, by message. Where a place is gone, as its tail was closed or it was deleted
 * meanwhile, all are read again: what was read may be in another place too.
 */
const readEdits = Effect.fnUntraced(
  function*(scope: ExportScope, chatId: bigint, { changes, records }: Piece) {
    const { open: { account }, until } = scope
    const db = yield* Db
    const exports = yield* ExportRecords
    const ids = records.flatMap(({ id }) => (changes.edited.get(id) ?? 0) > 0 ? [id] : [])
    if (ids.length === 0) return new Map<string, ReadonlyArray<EditRecord>>()
    for (;;) {
      const asked = exports.editPlaces(account, chatId, { ids, until, oldest: revisionLimit })
      const places = yield* db.read(account.organizationId, asked)
      const edits = yield* readPlaces(scope, chatId, ids, places)
      if (edits !== null) return edits
    }
  }
)

/** The messages as they were at the export's moment. */
const complete = Effect.fnUntraced(
  function*(scope: ExportScope, chatId: bigint, piece: Piece) {
    const { media, open, tally, until } = scope
    const { changes, records } = piece
    const edits = yield* readEdits(scope, chatId, piece)
    const files = yield* storedFiles(
      open,
      records.map((record) => ({ chatId, record, edits: edits.get(String(record.id)) ?? [] }))
    )
    const stored = new Map(files.map((file) => [file.fileId, file] as const))
    return records.map((record): ExportedMessage => {
      const mine = edits.get(String(record.id)) ?? []
      const newest = mine.at(-1)
      const details = newest?.details ?? record.details
      const deletedAt = changes.deleted.get(record.id)
      const editsKept = keptOf(changes, record)
      const lostEdits = Math.max(0, editsKept - mine.length)
      const editsLeftOut = (changes.edited.get(record.id) ?? 0) - editsKept
      tally.messages++
      tally.edits += mine.length
      tally.lostEdits += lostEdits
      tally.editsLeftOut += editsLeftOut
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
        editsLeftOut,
        deletedAt: deletedAt === undefined ? null : Math.floor(deletedAt.getTime() / 1000)
      }
    })
  }
)

const stepped = (messages: ReadonlyArray<ReadonlyArray<MessageRecord>>, next: Progress | null) =>
  [messages, Option.fromNullishOr(next)] as const

/**
 * One step: opens the next pages, and answers pieces of the messages below every page that is left. A page that is gone
 * was closed from the tail or deleted meanwhile: what is left is then asked for again.
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
      exports.frames(account, chatId, asked.map(({ number }) => number))
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
  const rest: Progress = {
    ranges,
    next,
    waiting: bound === null ? [] : sorted.filter(({ id }) => id >= bound),
    above: settled.at(-1)?.id ?? progress.above
  }
  return stepped(piecesOf(settled, messagesAtOnce), bound === null ? null : rest)
})

/** The messages of a chat. */
export const exportedMessages = (scope: ExportScope, chatId: bigint) =>
  Stream.paginate(begun, (progress) => step(scope, chatId, progress)).pipe(
    Stream.mapEffect((records) => withChanges(scope, chatId, records)),
    Stream.flattenIterable,
    Stream.mapEffect((piece) => complete(scope, chatId, piece)),
    Stream.flattenIterable
  )

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
