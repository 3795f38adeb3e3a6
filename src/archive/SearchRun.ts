/** A search of the archive under way: what is still to be read, and the lists that it comes from. */
import { Effect, Fiber } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { SearchPosition } from "../domain/archive/SearchHit.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import {
  type ListPosition,
  type ListStamps,
  type PageName,
  type SearchBlock,
  type SearchPage,
  SearchStore
} from "../ports/archive/SearchStore.ts"
import type { NewestFirst } from "./NewestFirst.ts"
import type { SearchCriteria, SearchKeys } from "./SearchMatches.ts"

export interface SearchRequest extends SearchCriteria {
  readonly limit: number
  /** Null for the newest. */
  readonly position: SearchPosition | null
  /** Called for each page that did not open. */
  readonly missed?: (page: PageName) => void
}

/** Blocks whose candidates are listed by one statement. */
const blocksTogether = 16

/** Pages that a cleanup deletes meanwhile would be missed again and again. */
const mostRelists = 3

/** Pages of a block that can match and that were not listed yet, the newest first. */
export interface Candidates {
  readonly accountId: AccountId
  readonly numbers: ReadonlyArray<bigint>
  /** None of them has a newer message. */
  readonly lastAt: number
  /** True for all pages of a block without a vocabulary, which has counted nothing of them. */
  readonly scanned: boolean
}

/** The sources still to be read, ranked by the newest message that each can hold. */
export type Unread =
  | { readonly type: "blocks"; readonly after: ListPosition | null; readonly waiting: ReadonlyArray<Candidates> }
  | { readonly type: "loose"; readonly after: ListPosition | null }
  | { readonly type: "candidates"; readonly of: ReadonlyArray<Candidates> }
  | { readonly type: "page"; readonly page: SearchPage; readonly uncounted: number }

type Blocks = ReadonlyArray<SearchBlock>

/** A search under way. */
export interface Run<R> {
  readonly keys: SearchKeys<R>
  readonly request: SearchRequest
  /** Rows that are listed at a time. */
  readonly atOnce: { readonly blocks: number; readonly loose: number }
  /** Messages after this time were answered by earlier calls. */
  readonly below: number
  /** All that reaches beyond this time was counted by earlier calls. */
  readonly counted: number
  readonly unread: NewestFirst<Unread>
  /** Pages and blocks that were queued: while a writer closes its tail, one can be listed twice. */
  readonly queued: Set<string>
  readonly sums: { read: number; unreadable: number; relists: number }
  /** Messages that were read, or excluded by a vocabulary, by the time at which they end. */
  readonly searched: Array<{ readonly lastAt: number; readonly messages: number }>
  /** Vocabularies that are listed, and pages that are read, the next time: few at first, and twice as many each time. */
  blocks: number
  pages: number
  /** The blocks after a place, which are listed while those before them are read. */
  further: { readonly after: ListPosition; readonly blocks: Fiber.Fiber<Blocks, ServiceUnavailable> } | null
  /** Less than half of the budget is used. */
  readonly isEarly: Effect.Effect<boolean>
  /** All of the budget is used. */
  readonly isLate: Effect.Effect<boolean>
  /** Half as much again is used: what was listed again is not waited for any more. */
  readonly isOver: Effect.Effect<boolean>
  /** Everything after this time was read before lists were made again: the answer waits until they have come down to it. */
  reached: number
  /** The second list, too, is listed while the first one's blocks are read. */
  readonly ahead: boolean
  /** The store's stamps before it was last listed. */
  stamps: ListStamps
}

/**
 * The messages that this call has searched, of those that end after `frontier`: the calls before it have counted what
 * ends later, and the next ones count the rest, also where it was read already.
 */
export const searchedAfter = <R>({ counted, searched }: Run<R>, frontier: number): number =>
  searched.reduce((sum, { lastAt, messages }) => lastAt > frontier && lastAt <= counted ? sum + messages : sum, 0)

export const nameOf = ({ accountId, number }: PageName): string => `${accountId}/${number}`

export const nameOfBlock = ({ accountId, blockId }: Pick<SearchBlock, "accountId" | "blockId">): string =>
  `${accountId}/block ${blockId}`

/** `uncounted` are messages of the page that no vocabulary has counted as searched. */
const queuePage = <R>({ below, queued, request, unread }: Run<R>, page: SearchPage, uncounted: number): void => {
  const { chatIds, since, until } = request.scope
  const key = `${page.accountId}/${page.number}`
  if (queued.has(key) || page.firstAt > below) return
  if (chatIds !== null && !chatIds.includes(page.chatId)) return
  if (since !== null && page.lastAt < since || until !== null && page.firstAt >= until) return
  queued.add(key)
  unread.push(Math.min(page.lastAt, below), { type: "page", page, uncounted })
}

/**
 * The next blocks that were not listed before, and where the list after them begins. From the second list on, or ahead
 * from the first, that one is listed meanwhile: a search that needs two mostly needs more.
 */
export const listBlocks = Effect.fnUntraced(function*<R>(run: Run<R>, after: ListPosition | null) {
  const store = yield* SearchStore
  const { blocks: limit, further } = run
  run.further = null
  run.blocks = Math.min(limit * 2, run.atOnce.blocks)
  const list = (from: ListPosition | null, most: number) => store.blocks(run.request.scope, run.below, from, most)
  const isThere = further !== null && further.after.number === after?.number && further.after.lastAt === after.lastAt
  const listed = yield* isThere ? Fiber.join(further.blocks) : list(after, limit)
  const last = listed.at(-1)
  const next = last === undefined || listed.length < limit ? null : { lastAt: last.lastAt, number: last.blockId }
  if (next !== null && (after !== null || run.ahead)) {
    run.further = { after: next, blocks: yield* Effect.forkDetach(list(next, run.blocks)) }
  }
  const blocks = listed.filter((block) => {
    const key = nameOfBlock(block)
    const isNew = !run.queued.has(key)
    run.queued.add(key)
    return isNew
  })
  return { blocks, next }
})

export const listLoose = Effect.fnUntraced(function*<R>(run: Run<R>, after: ListPosition | null) {
  const store = yield* SearchStore
  const pages = yield* store.loose(run.request.scope, run.below, after, run.atOnce.loose)
  for (const page of pages) queuePage(run, page, page.messages)
  const last = pages.at(-1)
  if (last === undefined || pages.length < run.atOnce.loose) return
  const next = { lastAt: last.lastAt, number: last.number }
  run.unread.push(Math.min(last.lastAt, run.below), { type: "loose", after: next })
})

/** Lists again what a writer or a cleanup has moved meanwhile: what is already queued stays queued once. */
export const listAgain = <R>({ below, sums, unread }: Run<R>, what: "all" | "loose" = "all"): void => {
  if (sums.relists >= mostRelists) return
  sums.relists += 1
  if (what === "all") unread.push(below, { type: "blocks", after: null, waiting: [] })
  unread.push(below, { type: "loose", after: null })
}

/**
 * True if nothing can have moved between two lists: a page into a block or out of one, or rows of the tail, some of them
 * listed and some not, into a page. Otherwise lists again.
 */
export const isSettled = Effect.fnUntraced(function*<R>(run: Run<R>) {
  if (run.sums.relists >= mostRelists) return true
  const stamps = yield* (yield* SearchStore).stamps(run.request.scope)
  const { blocks, loose } = run.stamps
  run.stamps = stamps
  if (stamps.blocks === blocks && stamps.loose === loose) return true
  listAgain(run, stamps.blocks === blocks ? "loose" : "all")
  return false
})

const newestCandidates = (one: Candidates, other: Candidates): number => other.lastAt - one.lastAt

/**
 * Goes on with the next list of blocks, if there is one, of which none reaches beyond `newestNext`. Candidates wait for
 * those of that list where they are fewer than a page of hits, and while the search has most of its budget left.
 */
export const queueNext = Effect.fnUntraced(function*<R>(
  run: Run<R>,
  candidates: ReadonlyArray<Candidates>,
  next: ListPosition | null,
  newestNext = next?.lastAt ?? 0
) {
  const pages = candidates.reduce((sum, { numbers }) => sum + numbers.length, 0)
  const waits = next !== null && pages < run.request.limit && (yield* run.isEarly)
  const waiting = waits ? candidates : []
  if (next !== null) {
    const newest = Math.max(newestNext, ...waiting.map(({ lastAt }) => lastAt))
    run.unread.push(Math.min(newest, run.below), { type: "blocks", after: next, waiting })
  }
  if (!waits) yield* listCandidates(run, candidates)
})

/** Lists the newest candidates of the blocks that reach furthest: a page of hits mostly needs no others. */
export const listCandidates = Effect.fnUntraced(function*<R>(run: Run<R>, candidates: ReadonlyArray<Candidates>) {
  if (candidates.length === 0) return
  const store = yield* SearchStore
  const sorted = candidates.toSorted(newestCandidates)
  const of = sorted.slice(0, blocksTogether)
  const each = Math.max(1, Math.floor(run.atOnce.loose / of.length))
  const named = of.flatMap(({ accountId, numbers }) => numbers.slice(0, each).map((number) => ({ accountId, number })))
  const listed = yield* store.pages(run.request.scope, named, run.below)
  const pages = new Map(listed.map((page) => [nameOf(page), page]))
  const further = sorted.slice(blocksTogether)
  for (const { accountId, lastAt, numbers, scanned } of of) {
    let oldest = lastAt
    for (const number of numbers.slice(0, each)) {
      const page = pages.get(nameOf({ accountId, number }))
      if (page === undefined) continue
      queuePage(run, page, scanned ? page.messages : 0)
      oldest = Math.min(oldest, page.lastAt)
    }
    if (numbers.length > each) further.push({ accountId, numbers: numbers.slice(each), lastAt: oldest, scanned })
  }
  const newest = Math.max(...further.map(({ lastAt }) => lastAt))
  if (further.length > 0) run.unread.push(Math.min(newest, run.below), { type: "candidates", of: further })
})
