/** The writer of archives: seals what it is given to the organization's public key. */
import { Clock, Context, Effect, Layer } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { byId, sortedIds } from "../domain/archive/MessageIds.ts"
import { dayOf, messagesPerPage, piecesOf } from "../domain/archive/PageRules.ts"
import type { ChangeRecord, RecordOf } from "../domain/archive/Records.ts"
import { type Judged, type KnownRevision, sift, type Sifted } from "../domain/archive/Revisions.ts"
import { largeFrom } from "../domain/FileSizes.ts"
import { ArchiveBlobs } from "../ports/archive/ArchiveBlobs.ts"
import { ArchiveChats } from "../ports/archive/ArchiveChats.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import {
  ArchiveRecords,
  type KnownChanges,
  type NewChange,
  type NewPage,
  type RevisionMark,
  type SentDay
} from "../ports/archive/ArchiveRecords.ts"
import {
  type AccountArchive,
  ArchiveWriter,
  type SeenMessage,
  type WritingPath
} from "../ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../ports/archive/BlobStore.ts"
import { ContentDigest } from "../ports/archive/ContentDigest.ts"
import { type ArchivedAccount, Epochs } from "../ports/archive/Epochs.ts"
import { SearchBlocks } from "../ports/archive/SearchBlocks.ts"
import { Db } from "../ports/Db.ts"
import { see, setMembers } from "./ChatSnapshots.ts"
import { type EpochWriter, takeOver } from "./EpochWriter.ts"
import { storeFile } from "./FileContents.ts"
import { indexPages, notePage } from "./PageIndexing.ts"
import { closeTail, packTail } from "./TailClosing.ts"

type Services =
  | ArchiveBlobs
  | ArchiveChats
  | ArchiveCrypto
  | ArchiveRecords
  | BlobStore
  | ContentDigest
  | Db
  | Epochs
  | SearchBlocks

/** These alone: the writer's callers get no scope or transaction of its maker. */
const services = Effect.map(
  Effect.context<Services>(),
  Context.pick(
    ArchiveBlobs,
    ArchiveChats,
    ArchiveCrypto,
    ArchiveRecords,
    BlobStore,
    ContentDigest,
    Db,
    Epochs,
    SearchBlocks
  )
)

/** A record to store: of which message, when, and which row of changes it makes. */
interface Item<Kind extends "messages" | "changes"> {
  readonly id: bigint
  /** In Unix seconds. */
  readonly at: number
  readonly sentDay: SentDay
  readonly record: RecordOf<Kind>
  readonly change: Omit<NewChange, "chatId" | "messageId" | "heldBy"> | null
}

/** Its row of changes names the page or tail row that holds it. */
const isNamed = ({ change }: Pick<Item<"changes" | "messages">, "change">): boolean =>
  change !== null && change.kind !== "seen"

const instant = (seconds: number): Date => new Date(seconds * 1000)

/** Stores records of a chat in pages of one frame, or each in the tail, with their rows of changes; the bytes they take. */
const store = Effect.fnUntraced(function*<Kind extends "messages" | "changes">(
  writer: EpochWriter,
  epochId: bigint,
  chatId: bigint,
  kind: Kind,
  items: ReadonlyArray<Item<Kind>>,
  path: WritingPath
) {
  if (items.length === 0) return 0
  const { account } = writer
  const crypto = yield* ArchiveCrypto
  const records = yield* ArchiveRecords
  const changes: Array<NewChange> = []
  const pages: Array<{ readonly piece: ReadonlyArray<Item<Kind>>; readonly page: NewPage }> = []
  let bytes = 0
  const note = (item: Item<Kind>, heldBy: NewChange["heldBy"]) => {
    if (item.change === null) return
    changes.push({ ...item.change, chatId, messageId: item.id, heldBy: isNamed(item) ? heldBy : null })
  }
  const groups = Map.groupBy(items, ({ at, sentDay }) => `${dayOf(at)} ${sentDay}`)
  for (const all of groups.values()) {
    for (const piece of piecesOf(all.sort(byId), path === "live" ? 1 : messagesPerPage)) {
      const [first] = piece
      if (first === undefined) continue
      const { sentDay } = first
      const day = dayOf(first.at)
      const sealed = yield* writer.seal({ chatId, day, kind }, piece.map(({ record }) => record))
      bytes += sealed.length
      if (path === "live") {
        const row = { chatId, day, kind, messageId: first.id, at: instant(first.at), sentDay, epochId, sealed }
        if (isNamed(first)) {
          const [tail] = yield* records.addTail(account, [row])
          if (tail !== undefined) note(first, { tail })
        } else {
          yield* records.postTail(account, [row])
          note(first, null)
        }
        continue
      }
      const times = piece.map(({ at }) => at)
      const page = {
        chatId,
        day,
        kind,
        ids: sortedIds(piece.map(({ id }) => id)),
        firstAt: instant(Math.min(...times)),
        lastAt: instant(Math.max(...times)),
        sentDay,
        digest: yield* crypto.sha256(sealed),
        sealed
      }
      pages.push({ piece, page })
    }
  }
  // One statement: a chat of few messages a day has a page for each of many days.
  const numbers = pages.length === 0 ? [] : yield* records.addPages(account, pages.map(({ page }) => page))
  for (const [at, { page, piece }] of pages.entries()) {
    const number = numbers[at]
    if (number === undefined) continue
    for (const item of piece) note(item, { page: number })
    yield* notePage(writer, number, page)
  }
  yield* records.addChanges(account, changes)
  return bytes
})

type Marked = Sifted<SeenMessage> & { readonly epochMark: RevisionMark | null }

const editItem = (
  { editedAt, epochMark, id, late, message, place }: Marked & Judged,
  now: Date
): Item<"changes"> => {
  const seen = Math.floor(now.getTime() / 1000)
  const record: ChangeRecord = {
    change: "edited",
    id: String(id),
    seen_at: seen,
    edited_at: editedAt === 0 ? null : editedAt,
    text: message.text,
    details: message.details,
    ...(late ? { late: true } : {})
  }
  return {
    id,
    at: seen,
    sentDay: dayOf(message.at),
    record,
    change: { kind: "edited", editDate: editedAt, mark: epochMark, late, place, why: null, at: now }
  }
}

const messageItem = ({ editedAt, epochMark, id, message }: Marked, now: Date): Item<"messages"> => ({
  id,
  at: message.at,
  sentDay: null,
  record: { ...message, archivedAt: Math.floor(now.getTime() / 1000) },
  change: editedAt === 0
    ? null
    : { kind: "seen", editDate: editedAt, mark: epochMark, late: false, place: 0, why: null, at: now }
})

/** The message with what tells its content from that of other revisions: a change of reactions alone makes none. */
const marked = (writer: EpochWriter, message: SeenMessage) => {
  const { details, id, text } = message
  return Effect.map(
    writer.markOf(JSON.stringify([text, { ...details, reactions: undefined }])),
    (epochMark): Marked => ({ id, message, editedAt: details.edited_at ?? 0, mark: hex(epochMark.digest), epochMark })
  )
}

/** A message that is seen for the first time, as it was sent: it is compared with nothing. */
const unmarked = (message: SeenMessage): Marked => ({
  id: message.id,
  message,
  editedAt: 0,
  mark: null,
  epochMark: null
})

/** The messages that have other revisions, archived or among these, or may get a row of their own. */
const comparedIds = (messages: ReadonlyArray<SeenMessage>, known: Iterable<bigint>): ReadonlySet<bigint> => {
  const compared = new Set(known)
  const seen = new Set<bigint>()
  for (const { details, id } of messages) {
    if (seen.has(id) || (details.edited_at ?? 0) !== 0) compared.add(id)
    seen.add(id)
  }
  return compared
}

/** The archived revisions of each message, as the writer of the epoch can compare them. */
const revisionsOf = (known: Iterable<bigint>, changes: ReadonlyArray<KnownChanges>, epochId: bigint) => {
  const stored = new Map(changes.map(({ messageId, revisions }) => [messageId, revisions]))
  return new Map([...known].map((id): [bigint, ReadonlyArray<KnownRevision>] => {
    const revisions = stored.get(id) ?? []
    // A message that was first seen as it was sent has no row of its own.
    const first = revisions.some(({ isFirst }) => isFirst) ? [] : [{ editedAt: 0, mark: null, late: false, place: 0 }]
    return [id, [
      ...first,
      ...revisions.map(({ editDate, late, mark, place }) => ({
        editedAt: editDate,
        late,
        place,
        mark: mark === null || mark.epochId !== epochId ? null : hex(mark.digest)
      }))
    ]]
  }))
}

const append = Effect.fnUntraced(function*(
  writer: EpochWriter,
  chatId: bigint,
  messages: ReadonlyArray<SeenMessage>,
  path: WritingPath,
  late: boolean
) {
  const { account } = writer
  const records = yield* ArchiveRecords
  const now = new Date(yield* Clock.currentTimeMillis)
  const named = messages.map(({ id }) => id)
  const { epochId, found: { known, redacted } } = yield* writer.fenced(() =>
    Effect.all({
      known: records.known(account, chatId, named),
      redacted: records.redacted(account, chatId, named)
    }, { concurrency: "unbounded" })
  )
  const editDates = [...new Set(messages.map(({ details }) => details.edited_at ?? 0))]
  const changes = yield* records.knownChanges(account, chatId, [...known], editDates)
  const compared = comparedIds(messages, known)
  const seen = yield* Effect.forEach(
    messages.filter(({ id }) => !redacted.has(id)),
    (message) => compared.has(message.id) ? marked(writer, message) : Effect.succeed(unmarked(message))
  )
  const sifted = sift(seen, revisionsOf(known, changes, epochId), late)
  const fresh = sifted.fresh.map((message) => messageItem(message, now))
  const bytes = yield* store(writer, epochId, chatId, "messages", fresh, path)
  const edits = sifted.revised.map((edit) => editItem(edit, now))
  const grown = yield* store(writer, epochId, chatId, "changes", edits, path)
  if (grown > 0) yield* records.resize(account, chatId, grown)
  yield* records.addFiles(
    account,
    [...sifted.fresh, ...sifted.revised].flatMap(({ id, message }) =>
      (message.details.files ?? []).map((file) => ({
        fileId: file.id,
        chatId,
        messageId: id,
        day: dayOf(message.at),
        isLarge: file.bytes >= largeFrom,
        state: "pending" as const,
        at: now
      }))
    )
  )
  if (fresh.length === 0) return []
  const ids = sortedIds(fresh.map(({ id }) => id))
  const times = fresh.map(({ at }) => at)
  const growth = { chatId, ids, bytes, firstAt: instant(Math.min(...times)), lastAt: instant(Math.max(...times)) }
  yield* records.grow(account, growth, now)
  return ids
})

const mark = Effect.fnUntraced(function*(
  writer: EpochWriter,
  chatId: bigint,
  ids: ReadonlyArray<bigint>,
  why: "deleted" | "expired" | "absent",
  path: WritingPath
) {
  const { account } = writer
  const records = yield* ArchiveRecords
  const now = new Date(yield* Clock.currentTimeMillis)
  const { epochId, found: known } = yield* writer.fenced(() => records.known(account, chatId, ids))
  const changes = yield* records.knownChanges(account, chatId, [...known], [])
  const gone = new Set(changes.flatMap(({ deleted, messageId }) => deleted ? [messageId] : []))
  const at = Math.floor(now.getTime() / 1000)
  const items = [...known].filter((id) => !gone.has(id)).map((id): Item<"changes"> => ({
    id,
    at,
    sentDay: null,
    record: { change: "deleted", id: String(id), seen_at: at, why },
    change: { kind: "deleted", editDate: 0, mark: null, late: false, place: 0, why, at: now }
  }))
  const grown = yield* store(writer, epochId, chatId, "changes", items, path)
  if (grown > 0) yield* records.resize(account, chatId, grown)
})

const own = Effect.fnUntraced(function*(account: ArchivedAccount, key: Parameters<typeof takeOver>[1], by: string) {
  const context = yield* services
  const writer = yield* takeOver(account, key, by)
  const close = (which: "due" | "all") =>
    Effect.provide(Effect.andThen(closeTail(writer, which), indexPages(writer, which)), context)
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.ignore(close("all")), writer.end))
  yield* Effect.ignore(packTail(writer))
  return {
    frames: writer.frames,
    see: (...seen) => Effect.provide(see(writer, seen), context),
    setMembers: (chatId, members) => Effect.provide(setMembers(writer, chatId, members), context),
    append: (chatId, messages, path, late) =>
      Effect.provide(append(writer, chatId, messages, path, late === "late"), context),
    mark: (chatId, ids, why, path) => Effect.provide(mark(writer, chatId, ids, why, path), context),
    close,
    storeFile: (fileId, content) => Effect.provide(storeFile(writer, fileId, content), context),
    renew: (next) => writer.renew(next, close("all"))
  } satisfies AccountArchive
})

/** The writer over the ports of storage and cryptography. */
export const layer = Layer.effect(
  ArchiveWriter,
  Effect.map(services, (context) =>
    ArchiveWriter.of({
      own: (account, key, by) => Effect.provide(own(account, key, by), context)
    }))
)
