/** Reading of an account's opened archive: the messages of a chat, one among its neighbours, its revisions. */
import { Effect } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { type Message, message, type MessageEdit, messageEdits, type MessageState } from "../domain/archive/Message.ts"
import { frameBytesAtOnce } from "../domain/archive/PageRules.ts"
import type { ChangeRecord, EditRecord, MessageDetails, MessageKind, MessageRecord } from "../domain/archive/Records.ts"
import { byAge, newestEdit } from "../domain/archive/Revisions.ts"
import { ContentUnreadable } from "../domain/Failure.ts"
import { ArchivePages, type MessageChanges } from "../ports/archive/ArchivePages.ts"
import { Db } from "../ports/Db.ts"
import { type Entry, nextStep, scanner } from "./MessagePages.ts"
import { type OpenAccount, openInTurn } from "./OpenedFrames.ts"

export { type OpenAccount, openAccount } from "./OpenedFrames.ts"

/** Messages of one chat beyond an id in one direction, those that all filters let through. */
export interface MessageQuery {
  readonly chatId: bigint
  readonly direction: "older" | "newer"
  readonly bound: bigint | null
  readonly since: Date | null
  readonly until: Date | null
  readonly kind: MessageKind | null
  readonly deleted: boolean | null
  readonly limit: number
}

/** A page of messages in the order of the direction. */
export interface MessageList {
  readonly messages: ReadonlyArray<Message>
  /** The details of each message as it is now, by its id. */
  readonly details: ReadonlyMap<string, MessageDetails>
  readonly hasMore: boolean
  /** The id beyond which the list goes on; null where nothing follows. */
  readonly next: bigint | null
  /** Messages of this page, and texts of edits, that do not open. */
  readonly unreadable: number
}

/** Pages that one call reads at most, where filters let few messages through. */
const pagesPerCall = 512

/** Messages whose changes are looked up at a time. */
const changesPerStatement = 101

/** Revisions of one message that are answered at most, the oldest. */
export const revisionLimit = 1000

/** Bytes of frames that one call reads messages, revisions or files of edits from, and then ends. */
export const frameBytesPerCall = 32 * 1024 * 1024

const unchanged = { edits: 0, editDates: [], deletedAt: null, deletedWhy: null }

const isEdit = (record: ChangeRecord): record is EditRecord => record.change === "edited"

/** The edits of the message among opened changes; a frame holds those of many. */
const editsIn = (records: ReadonlyArray<ChangeRecord> | null, id: bigint): ReadonlyArray<EditRecord> =>
  (records ?? []).filter(isEdit).filter((record) => record.id === String(id))

/** A message as it is now; `unreadable` where its newest edit does not open. */
export interface CompletedMessage {
  readonly message: Message
  readonly details: MessageDetails
  /** The messenger's times of its oldest edits in Unix seconds, ascending. */
  readonly editDates: ReadonlyArray<number>
  readonly unreadable: boolean
}

/** A message as it was first seen, with its chat. */
export interface RecordOfChat {
  readonly chatId: bigint
  readonly record: MessageRecord
}

const nameOf = (chatId: bigint, messageId: bigint): string => `${chatId}/${messageId}`

interface EditedMessage extends RecordOfChat {
  readonly edits: ReadonlyArray<EditRecord>
}

/** The stored files of the messages, also of those that began without any and have some by an edit. */
export const storedFiles = Effect.fnUntraced(
  function*({ account }: OpenAccount, messages: ReadonlyArray<EditedMessage>) {
    const db = yield* Db
    const pages = yield* ArchivePages
    const withFiles = messages.flatMap(({ chatId, edits, record }) =>
      [record, ...edits].some(({ details }) => details.files !== undefined) ? [{ chatId, messageId: record.id }] : []
    )
    return withFiles.length === 0 ? [] : yield* db.read(account.organizationId, pages.files(account, withFiles))
  }
)

/**
 * The newest edits of messages by their names, and the bytes of their pages. Each page is opened once, and of its records no
 * others are held.
 */
const openNewest = Effect.fnUntraced(function*(open: OpenAccount, changes: ReadonlyArray<MessageChanges>) {
  const edited = changes.flatMap(({ chatId, messageId, newest }) =>
    newest === null ? [] : [{ ...newest, chatId, messageId }]
  )
  const distinct = [...new Map(edited.map((each) => [each.number, each])).values()]
  const newest = new Map<string, EditRecord>()
  yield* openInTurn(open, "changes", distinct, (records, { number }) => {
    for (const { chatId, messageId } of edited.filter((each) => each.number === number)) {
      const edit = editsIn(records, messageId).toSorted(byAge).at(-1)
      if (edit !== undefined) newest.set(nameOf(chatId, messageId), edit)
    }
  })
  return { newest, read: distinct.reduce((sum, { sealed }) => sum + sealed.length, 0) }
})

/** The first of the messages as they are now: at least one, and as many as have their newest edits in so many bytes. */
const completeFirst = Effect.fnUntraced(function*(open: OpenAccount, all: ReadonlyArray<RecordOfChat>, bytes: number) {
  const { account } = open
  const db = yield* Db
  const pages = yield* ArchivePages
  const names = all.map(({ chatId, record }) => ({ chatId, messageId: record.id }))
  const { changes, stated } = yield* db.read(account.organizationId, pages.changes(account, names, bytes))
  const seen = all.slice(0, stated)
  const { newest, read } = yield* openNewest(open, changes)
  const known = new Map(changes.map((change) => [nameOf(change.chatId, change.messageId), change]))
  const edited = seen.map(({ chatId, record }): EditedMessage => {
    const edit = newest.get(nameOf(chatId, record.id))
    return { chatId, record, edits: edit === undefined ? [] : [edit] }
  })
  const files = new Map((yield* storedFiles(open, edited)).map(({ at, fileId, reason, sha256, state }) =>
    [fileId, {
      state,
      reason,
      sha256: sha256 === null ? null : hex(sha256),
      archived_at: state === "saved" ? at : null
    }] as const
  ))
  const completed = edited.map(({ chatId, edits, record }): CompletedMessage => {
    const { deletedAt, deletedWhy, editDates, edits: count } = known.get(nameOf(chatId, record.id)) ?? unchanged
    const state: MessageState = {
      edits: count,
      deletedAt,
      deletedWhy,
      newest: newestEdit(edits, record.details.edited_at ?? 0),
      files
    }
    return {
      message: message({ accountId: account.accountId, chatId }, record, state),
      details: state.newest?.details ?? record.details,
      editDates,
      unreadable: count > 0 && edits.length === 0
    }
  })
  return { completed, read }
})

/** The messages as they are now, in their order; their newest edits are read from so many bytes of pages at a time. */
export const completeMessages = Effect.fnUntraced(
  function*(open: OpenAccount, messages: ReadonlyArray<RecordOfChat>, bytes: number) {
    const done: Array<CompletedMessage> = []
    while (done.length < messages.length) {
      done.push(...(yield* completeFirst(open, messages.slice(done.length), bytes)).completed)
    }
    return done
  }
)

/** The results of a list so far. */
interface Found {
  readonly messages: Array<Message>
  readonly details: Map<string, MessageDetails>
  /** The last one that was looked at, and all before it were. */
  frontier: bigint | null
  /** Bytes of frames that it may read yet. */
  left: number
  unreadable: number
  /** Those after the last message of the page: the next page's, where there is one. */
  unreadableAfter: number
}

const isAsked = ({ kind, since, until }: MessageQuery, record: MessageRecord): boolean =>
  (since === null || record.at * 1000 >= since.getTime()) && (until === null || record.at * 1000 < until.getTime()) &&
  (kind === null || record.kind === kind)

/**
 * Takes messages that are asked for until there is one more than the page holds, or no bytes are left for their edits. The
 * result is true where it has looked at all of them.
 */
const take = Effect.fnUntraced(function*(
  open: OpenAccount,
  query: MessageQuery,
  found: Found,
  entries: ReadonlyArray<Entry>
) {
  const { chatId, deleted, limit } = query
  // One more than the page holds says that it goes on; filters may leave some of them out.
  const most = Math.min(limit + 1, changesPerStatement)
  let place = 0
  while (place < entries.length) {
    if (found.messages.length > limit || found.left <= 0) return false
    const piece = entries.slice(place, place + most)
    const asked = piece.flatMap(({ record }) => record !== null && isAsked(query, record) ? [{ chatId, record }] : [])
    const { completed, read } = yield* completeFirst(open, asked, Math.min(frameBytesAtOnce, found.left))
    found.left -= read
    const byId = new Map(completed.map((each) => [each.message.id, each]))
    const beyond = asked[completed.length]?.record.id
    for (const { id, record } of piece) {
      if (id === beyond || found.messages.length > limit) break
      place++
      found.frontier = id
      const isAfter = found.messages.length === limit
      const each = byId.get(String(id))
      if (each !== undefined && (deleted === null || (each.message.deleted_at !== null) === deleted)) {
        found.messages.push(each.message)
        found.details.set(each.message.id, each.details)
        if (!isAfter && each.unreadable) found.unreadable++
      } else if (record === null) {
        if (isAfter) found.unreadableAfter++
        else found.unreadable++
      }
    }
  }
  return true
})

/** Lists messages in the order of their ids. What does not open is counted and left out. */
export const listMessages = Effect.fnUntraced(function*(open: OpenAccount, query: MessageQuery) {
  const { bound, limit } = query
  const scan = scanner(open, { ...query, enough: limit + 1 })
  const found: Found = {
    messages: [],
    details: new Map(),
    frontier: bound,
    left: frameBytesPerCall,
    unreadable: 0,
    unreadableAfter: 0
  }
  const { details } = found
  let pages = 0
  while (true) {
    const step = yield* nextStep(scan)
    pages += step.pages
    const taken = yield* take(open, query, found, step.entries)
    found.left -= step.bytes
    const messages = found.messages.slice(0, limit)
    const last = messages.at(-1)
    if (found.messages.length > limit && last !== undefined) {
      return {
        messages,
        details,
        hasMore: true,
        next: BigInt(last.id),
        unreadable: found.unreadable
      } satisfies MessageList
    }
    const ended = taken && step.ended
    if (ended || found.left <= 0 || pages >= pagesPerCall) {
      const unreadable = found.unreadable + found.unreadableAfter
      return {
        messages,
        details,
        hasMore: !ended,
        next: ended ? null : found.frontier,
        unreadable
      } satisfies MessageList
    }
  }
})

const largestId = 2n ** 63n - 1n

const around = (chatId: bigint, direction: "older" | "newer", bound: bigint | null, limit: number): MessageQuery => ({
  chatId,
  direction,
  bound,
  limit,
  since: null,
  until: null,
  kind: null,
  deleted: null
})

/** The message as its page has it; null where it is not archived. */
const findEntry = Effect.fnUntraced(function*(open: OpenAccount, chatId: bigint, id: bigint) {
  const scan = scanner(open, {
    chatId,
    direction: "older",
    bound: id === largestId ? null : id + 1n,
    since: null,
    until: null,
    enough: 1
  })
  let entry: Entry | undefined
  let ended = false
  while (entry === undefined && !ended) {
    const found = yield* nextStep(scan)
    entry = found.entries[0]
    ended = found.ended
  }
  return entry?.id === id ? entry : null
})

/**
 * The message with up to `neighbours` on each side, oldest first; null where it is not archived. Fails where it is, and
 * does not open.
 */
export const findMessage = Effect.fnUntraced(function*(
  open: OpenAccount,
  chatId: bigint,
  id: bigint,
  neighbours: number
) {
  const below = id === largestId ? null : id + 1n
  const older = yield* listMessages(open, around(chatId, "older", below, neighbours + 1))
  const [found, ...before] = older.messages
  if (found === undefined || found.id !== String(id)) {
    // The list has counted it with those that do not open.
    const isSealed = older.unreadable > 0 && (yield* findEntry(open, chatId, id)) !== null
    return isSealed ? yield* new ContentUnreadable({}) : null
  }
  const newer = neighbours === 0
    ? { messages: [], unreadable: 0 }
    : yield* listMessages(open, around(chatId, "newer", id, neighbours))
  return {
    message: found,
    context: [...before.toReversed(), ...newer.messages],
    unreadable: older.unreadable + newer.unreadable
  }
})

/** The revisions of a message, oldest first; null where it is not archived. */
export const listEdits = Effect.fnUntraced(function*(open: OpenAccount, chatId: bigint, id: bigint) {
  const entry = yield* findEntry(open, chatId, id)
  if (entry === null) return null
  const { account } = open
  const db = yield* Db
  const pages = yield* ArchivePages
  const window = { skip: 0, limit: revisionLimit, bytes: frameBytesPerCall }
  const part = yield* db.read(account.organizationId, pages.edits(account, { chatId, messageId: id }, window))
  const edits: Array<EditRecord> = []
  let listed = 0
  let unopened = 0
  yield* openInTurn(open, "changes", part.frames.map((frames) => ({ ...frames, chatId })), (records, { places }) => {
    listed += places.length
    if (records === null) unopened += places.length
    else edits.push(...editsIn(records, id))
  })
  // The frames may hold later edits too, beyond those that were read.
  const known = edits.sort(byAge).slice(0, listed - unopened)
  const unreadable = listed - known.length + (entry.record === null ? 1 : 0)
  const revisions: ReadonlyArray<MessageEdit> = messageEdits(entry.record, known)
  return { revisions, hasMore: !part.ended, unreadable }
})
