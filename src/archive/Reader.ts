/** Reading of an account's opened archive: the messages of a chat, one among its neighbours, its revisions. */
import { Effect } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { type Message, message, type MessageEdit, messageEdits, type MessageState } from "../domain/archive/Message.ts"
import { piecesOf } from "../domain/archive/PageRules.ts"
import type { ChangeRecord, EditRecord, MessageDetails, MessageKind, MessageRecord } from "../domain/archive/Records.ts"
import { byAge, newestEdit } from "../domain/archive/Revisions.ts"
import { ContentUnreadable } from "../domain/Failure.ts"
import { ArchivePages, type MessageName, type SealedFrames } from "../ports/archive/ArchivePages.ts"
import { Db } from "../ports/Db.ts"
import { type Entry, nextStep, scanner } from "./MessagePages.ts"
import { type OpenAccount, openEach, openInTurn } from "./OpenedFrames.ts"

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

/** Bytes of frames that one call reads revisions, or files of edits, from at most. */
export const revisionBytes = 32 * 1024 * 1024

const unchanged = { edits: 0, editDates: [], newest: null, deletedAt: null, deletedWhy: null }

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
  readonly edits: ReadonlyArray<EditRecord> | undefined
}

/** The stored files of those messages that began without any and have some by an edit. */
export const laterFiles = Effect.fnUntraced(
  function*({ account }: OpenAccount, messages: ReadonlyArray<EditedMessage>) {
    const db = yield* Db
    const pages = yield* ArchivePages
    const added = messages.flatMap(({ chatId, edits, record }) =>
      record.details.files === undefined && edits?.some(({ details }) => details.files !== undefined)
        ? [{ chatId, messageId: record.id }]
        : []
    )
    return added.length === 0 ? [] : yield* db.read(account.organizationId, pages.files(account, added))
  }
)

interface FramedEdit extends MessageName {
  readonly frames: SealedFrames
}

/** The edits of each message in its frames; frames that several messages share are opened once. */
const openEdits = Effect.fnUntraced(function*(open: OpenAccount, edited: ReadonlyArray<FramedEdit>) {
  const distinct = [...new Map(edited.map(({ chatId, frames }) => [frames.number, { ...frames, chatId }])).values()]
  const opened = yield* openEach(open, "changes", distinct)
  const records = new Map(distinct.map(({ number }, place) => [number, opened[place] ?? null]))
  return new Map(
    edited.map(({ chatId, frames, messageId }) =>
      [nameOf(chatId, messageId), editsIn(records.get(frames.number) ?? null, messageId)] as const
    )
  )
})

/** The messages as they are now, in their order. */
export const completeMessages = Effect.fnUntraced(function*(open: OpenAccount, seen: ReadonlyArray<RecordOfChat>) {
  const { account } = open
  const db = yield* Db
  const pages = yield* ArchivePages
  const names = seen.map(({ chatId, record }) => ({ chatId, messageId: record.id }))
  const withFiles = names.filter((_, at) => seen[at]?.record.details.files !== undefined)
  const { changes, files } = yield* db.read(
    account.organizationId,
    Effect.all({ changes: pages.changes(account, names), files: pages.files(account, withFiles) }, {
      concurrency: "unbounded"
    })
  )
  const edited = changes.flatMap(({ chatId, messageId, newest }) =>
    newest === null ? [] : [{ chatId, messageId, frames: newest }]
  )
  const edits = yield* openEdits(open, edited)
  const known = new Map(changes.map((change) => [nameOf(change.chatId, change.messageId), change]))
  const later = yield* laterFiles(
    open,
    seen.map(({ chatId, record }) => ({ chatId, record, edits: edits.get(nameOf(chatId, record.id)) }))
  )
  const states = new Map([...files, ...later].map(({ at, fileId, reason, sha256, state }) =>
    [fileId, {
      state,
      reason,
      sha256: sha256 === null ? null : hex(sha256),
      archived_at: state === "saved" ? at : null
    }] as const
  ))
  return seen.map(({ chatId, record }): CompletedMessage => {
    const name = nameOf(chatId, record.id)
    const { deletedAt, deletedWhy, editDates, edits: count } = known.get(name) ?? unchanged
    const stored = edits.get(name) ?? []
    const state: MessageState = {
      edits: count,
      deletedAt,
      deletedWhy,
      newest: newestEdit(stored, record.details.edited_at ?? 0),
      files: states
    }
    return {
      message: message({ accountId: account.accountId, chatId }, record, state),
      details: state.newest?.details ?? record.details,
      editDates,
      unreadable: count > 0 && stored.length === 0
    }
  })
})

/** The results of a list so far. */
interface Found {
  readonly messages: Array<Message>
  readonly details: Map<string, MessageDetails>
  unreadable: number
  /** Those after the last message of the page: the next page's, where there is one. */
  unreadableAfter: number
}

const isAsked = ({ kind, since, until }: MessageQuery, record: MessageRecord): boolean =>
  (since === null || record.at * 1000 >= since.getTime()) && (until === null || record.at * 1000 < until.getTime()) &&
  (kind === null || record.kind === kind)

/** Takes messages that are asked for until there is one more than the page holds. */
const take = Effect.fnUntraced(function*(
  open: OpenAccount,
  query: MessageQuery,
  found: Found,
  entries: ReadonlyArray<Entry>
) {
  const { chatId, deleted, limit } = query
  const asked = entries.flatMap(({ record }) => record !== null && isAsked(query, record) ? [{ chatId, record }] : [])
  const completed = yield* completeMessages(open, asked)
  const byId = new Map(completed.map((each) => [each.message.id, each]))
  for (const { id, record } of entries) {
    if (found.messages.length > limit) return
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
})

/** Lists messages in the order of their ids. What does not open is counted and left out. */
export const listMessages = Effect.fnUntraced(function*(open: OpenAccount, query: MessageQuery) {
  const { limit } = query
  const scan = scanner(open, { ...query, enough: limit + 1 })
  const found: Found = { messages: [], details: new Map(), unreadable: 0, unreadableAfter: 0 }
  const { details } = found
  let pages = 0
  while (true) {
    const step = yield* nextStep(scan)
    pages += step.pages
    // One more than the page holds says that it goes on; filters may leave some of them out.
    const most = Math.min(limit + 1, changesPerStatement)
    for (const piece of piecesOf(step.entries, most)) {
      if (found.messages.length <= limit) yield* take(open, query, found, piece)
    }
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
    if (step.ended || pages >= pagesPerCall) {
      const unreadable = found.unreadable + found.unreadableAfter
      const next = step.ended ? null : step.frontier
      return { messages, details, hasMore: !step.ended, next, unreadable } satisfies MessageList
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
  const window = { skip: 0, limit: revisionLimit, bytes: revisionBytes }
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
