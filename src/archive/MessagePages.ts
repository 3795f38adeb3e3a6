/** Messages of a chat in the order of their ids, from pages and tail, as they were first seen. */
import { Effect } from "effect"
import { byId } from "../domain/archive/MessageIds.ts"
import { frameBytesAtOnce } from "../domain/archive/PageRules.ts"
import type { MessageRecord } from "../domain/archive/Records.ts"
import { ArchivePages, type MessageWindow, type SealedMessages } from "../ports/archive/ArchivePages.ts"
import { Db } from "../ports/Db.ts"
import { type OpenAccount, openEach } from "./OpenedFrames.ts"

/** A message by its id; null where its page does not open. */
export interface Entry {
  readonly id: bigint
  readonly record: MessageRecord | null
}

/** The messages to go through; the first step has `enough` of them. */
export interface Scan extends Omit<MessageWindow, "bytes" | "limit" | "read"> {}

/** The results of one step; every message up to its last one was answered by it or by a step before. */
export interface Step {
  readonly entries: ReadonlyArray<Entry>
  readonly ended: boolean
  /** Pages that it has read, and the size of their frames. */
  readonly pages: number
  readonly bytes: number
}

/** Pages of a step, and messages in them. */
const mostPages = 64
const mostMessages = 6400
/** Times as many messages as the step before, where filters let few through. */
const growth = 4

interface Found extends Entry {
  readonly day: string
}

/** The progress of a scan. */
export interface Scanner extends Omit<Scan, "enough"> {
  readonly open: OpenAccount
  readonly read: Array<bigint>
  readonly waiting: Map<bigint, Found>
  frontier: bigint | null
  enough: number
}

export const scanner = (open: OpenAccount, scan: Scan): Scanner => ({
  ...scan,
  open,
  read: [],
  waiting: new Map(),
  frontier: scan.bound
})

const entriesOf = (row: SealedMessages, records: ReadonlyArray<MessageRecord> | null): ReadonlyArray<Found> =>
  records === null
    ? row.ids.map((id) => ({ id, record: null, day: row.day }))
    : records.map((record) => ({ id: record.id, record, day: row.day }))

const isBeyond = ({ direction, frontier }: Scanner, id: bigint): boolean =>
  frontier === null || (direction === "older" ? id < frontier : id > frontier)

/**
 * True if no page that was not read can hold an id before this one. Towards older ids none of those reaches beyond the
 * last page's highest; towards newer ones pages overlap within a day alone, so that the last page's day waits.
 */
const isSettled = ({ direction }: Scanner, found: Found, last: SealedMessages): boolean =>
  direction === "older" ? found.id >= last.lastId : found.day < last.day

/**
 * The next messages. A page may be closed from the tail between two steps: pages are therefore asked for by what is
 * still missing, not by the place of the last one.
 */
export const nextStep = Effect.fnUntraced(function*(scan: Scanner) {
  const { chatId, direction, enough, open, read, since, until, waiting } = scan
  const db = yield* Db
  const window = {
    chatId,
    direction,
    since,
    until,
    bound: scan.frontier,
    read,
    enough,
    limit: mostPages,
    bytes: frameBytesAtOnce
  }
  const { ended, pages: rows } = yield* db.read(
    open.account.organizationId,
    Effect.flatMap(ArchivePages, (pages) => pages.window(open.account, window))
  )
  const last = rows.at(-1)
  scan.enough = Math.min(enough * growth, mostMessages)
  const opened = yield* openEach(open, "messages", rows.map((row) => ({ ...row, chatId })))
  for (const [index, row] of rows.entries()) {
    read.push(row.number)
    for (const found of entriesOf(row, opened[index] ?? null)) {
      if (isBeyond(scan, found.id)) waiting.set(found.id, found)
    }
  }
  const settled = [...waiting.values()].filter((found) => last === undefined || ended || isSettled(scan, found, last))
    .sort(byId)
  if (direction === "older") settled.reverse()
  for (const { id } of settled) waiting.delete(id)
  scan.frontier = settled.at(-1)?.id ?? scan.frontier
  const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0)
  return { entries: settled, ended, pages: rows.length, bytes } satisfies Step
})
