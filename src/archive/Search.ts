/**
 * Searching the archive, newest first and exactly: a page is opened where a vocabulary does not exclude it, and a hit is
 * answered once nothing unread can hold a newer one. After each vocabulary and each page other requests, and the watch
 * over accounts, have their turn.
 */
import { Clock, Effect } from "effect"
import { foldVersion } from "../domain/archive/Fold.ts"
import { lastSecond } from "../domain/archive/Records.ts"
import type { SearchHit, SearchPosition } from "../domain/archive/SearchHit.ts"
import { candidatePages, mayMatch } from "../domain/archive/Vocabulary.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import {
  type ListPosition,
  type PageName,
  type SearchBlock,
  type SearchPage,
  SearchStore
} from "../ports/archive/SearchStore.ts"
import { makeNewestFirst, type NewestFirst } from "./NewestFirst.ts"
import { makeSearchHits, type PlacedHit, type SearchHits } from "./SearchHits.ts"
import { matchPage, type SearchCriteria, type SearchKeys } from "./SearchMatches.ts"
import { openVocabulary } from "./Vocabularies.ts"

export interface SearchRequest extends SearchCriteria {
  readonly limit: number
  /** Null for the newest. */
  readonly position: SearchPosition | null
  /** Called for each page that did not open. */
  readonly missed?: (page: PageName) => void
}

/** The budget of a call: it stops at the first time step beyond that, and at least one is done. */
export interface SearchBudget {
  readonly millis: number
  readonly bytes: number
  /** Rows without their frames that are listed at a time; vocabularies are listed a sixteenth of them. */
  readonly listed: number
}

const searchBudget: SearchBudget = { millis: 2000, bytes: 64 * 1024 * 1024, listed: 256 }

export interface SearchResult {
  readonly hits: ReadonlyArray<SearchHit>
  /** The place where the next call goes on; null at the end. */
  readonly position: SearchPosition | null
  /** False where the budget ended before the page was full. */
  readonly complete: boolean
  /** Messages that were read, or excluded by a vocabulary. */
  readonly searched: number
  /** Pages that did not open. */
  readonly unreadable: number
}

const pagesAtOnce = 8
/** Pages that a cleanup deletes meanwhile would be missed again and again. */
const mostRelists = 3

/** The sources still to be read, ranked by the newest message that each can hold. */
type Unread =
  | { readonly type: "blocks" | "loose"; readonly after: ListPosition | null }
  | { readonly type: "block"; readonly block: SearchBlock }
  | { readonly type: "page"; readonly page: SearchPage; readonly uncounted: number }

/** A search under way. */
interface Run<R> {
  readonly keys: SearchKeys<R>
  readonly request: SearchRequest
  /** Rows that are listed at a time. */
  readonly atOnce: { readonly blocks: number; readonly loose: number }
  /** Messages after this time were answered by earlier calls. */
  readonly below: number
  readonly unread: NewestFirst<Unread>
  /** Pages and blocks that were queued: while a writer closes its tail, one can be listed twice. */
  readonly queued: Set<string>
  readonly counted: { read: number; searched: number; unreadable: number; relists: number }
  /** The store's stamp before it was last listed. */
  stamp: string
}

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

const listBlocks = Effect.fnUntraced(function*<R>(run: Run<R>, after: ListPosition | null) {
  const store = yield* SearchStore
  const blocks = yield* store.blocks(run.request.scope, run.below, after, run.atOnce.blocks)
  for (const block of blocks) {
    const key = `${block.accountId}/block ${block.blockId}`
    if (!run.queued.has(key)) run.unread.push(Math.min(block.lastAt, run.below), { type: "block", block })
    run.queued.add(key)
  }
  const last = blocks.at(-1)
  if (last === undefined || blocks.length < run.atOnce.blocks) return
  const next = { lastAt: last.lastAt, number: last.blockId }
  run.unread.push(Math.min(last.lastAt, run.below), { type: "blocks", after: next })
})

const listLoose = Effect.fnUntraced(function*<R>(run: Run<R>, after: ListPosition | null) {
  const store = yield* SearchStore
  const pages = yield* store.loose(run.request.scope, run.below, after, run.atOnce.loose)
  for (const page of pages) queuePage(run, page, page.messages)
  const last = pages.at(-1)
  if (last === undefined || pages.length < run.atOnce.loose) return
  const next = { lastAt: last.lastAt, number: last.number }
  run.unread.push(Math.min(last.lastAt, run.below), { type: "loose", after: next })
})

/** The block's pages that can match; null where its vocabulary is of another folding or not one of its pages. */
const candidatesOf = Effect.fnUntraced(function*<R>({ counted, keys, request }: Run<R>, block: SearchBlock) {
  if (block.fold !== foldVersion) return null
  counted.read += block.sealed.length
  const key = yield* keys(block.accountId, block.epochId)
  const vocabulary = yield* openVocabulary(key, block.blockId, block.sealed)
  if (!mayMatch(vocabulary.words, request.words)) {
    counted.searched += vocabulary.messages
    return []
  }
  const positions = candidatePages(
    vocabulary.words,
    yield* vocabulary.postings,
    block.pages.length,
    request.words
  )
  if (positions === null) return null
  counted.searched += vocabulary.messages
  return positions.flatMap((position) => block.pages.slice(position, position + 1))
})

/** Lists again what a writer or a cleanup has moved meanwhile: what is already queued stays queued once. */
const listAgain = <R>({ below, counted, unread }: Run<R>): void => {
  if (counted.relists >= mostRelists) return
  counted.relists += 1
  unread.push(below, { type: "blocks", after: null })
  unread.push(below, { type: "loose", after: null })
}

/** True if no page can have moved into a block, or out of one, between two lists; otherwise lists again. */
const isSettled = Effect.fnUntraced(function*<R>(run: Run<R>) {
  if (run.counted.relists >= mostRelists) return true
  const stamp = yield* (yield* SearchStore).stamp(run.request.scope)
  if (stamp === run.stamp) return true
  run.stamp = stamp
  listAgain(run)
  return false
})

const readBlock = Effect.fnUntraced(function*<R>(run: Run<R>, block: SearchBlock) {
  const store = yield* SearchStore
  const candidates = yield* candidatesOf(run, block).pipe(
    Effect.catchTag("ArchiveUnreadable", () => Effect.succeed(null))
  )
  yield* Effect.yieldNow
  const numbers = candidates ?? block.pages
  if (numbers.length === 0) return
  const pages = yield* store.pages(run.request.scope, block, numbers)
  for (const page of pages) queuePage(run, page, candidates === null ? page.messages : 0)
  if (pages.length < numbers.length) listAgain(run)
})

/** Takes the pages that come next, up to so many at once. */
const takePages = <R>({ counted, unread }: Run<R>): ReadonlyArray<SearchPage> => {
  const pages: Array<SearchPage> = []
  for (let next = unread.peek(); next?.type === "page" && pages.length < pagesAtOnce; next = unread.peek()) {
    unread.take()
    pages.push(next.page)
    counted.searched += next.uncounted
  }
  return pages
}

const readPages = Effect.fnUntraced(function*<R>(run: Run<R>, hits: SearchHits) {
  const store = yield* SearchStore
  const taken = takePages(run)
  const pages = yield* store.sealed(run.request.scope, taken)
  if (pages.length < taken.length) listAgain(run)
  for (const page of pages) {
    const { found, read, unreadable } = yield* matchPage(run.keys, run.request, page)
    for (const each of found) hits.add(each)
    run.counted.read += read
    run.counted.unreadable += unreadable ? 1 : 0
    if (unreadable) run.request.missed?.(page.page)
    yield* Effect.yieldNow
  }
})

/** The first hits; `rest` is where the search would go on without a limit, null where it has ended. */
const answer = (
  found: ReadonlyArray<PlacedHit>,
  limit: number,
  rest: SearchPosition | null,
  counted: Run<never>["counted"]
): SearchResult => {
  const full = found.length > limit
  const hits = found.slice(0, limit)
  return {
    hits: hits.map(({ hit }) => hit),
    position: full ? hits.at(-1)?.last ?? rest : rest,
    complete: full || rest === null,
    searched: counted.searched,
    unreadable: counted.unreadable
  }
}

/** Runs one search within its budget. */
export const search: <R>(
  keys: SearchKeys<R>,
  request: SearchRequest,
  budget?: SearchBudget
) => Effect.Effect<SearchResult, ServiceUnavailable, ArchiveCrypto | SearchStore | R> = Effect.fnUntraced(
  function*<R>(keys: SearchKeys<R>, request: SearchRequest, budget: SearchBudget = searchBudget) {
    const started = yield* Clock.currentTimeMillis
    const { limit, position, scope } = request
    const below = Math.min(position?.at ?? lastSecond, (scope.until ?? lastSecond + 1) - 1)
    const run: Run<R> = {
      keys,
      request,
      atOnce: { blocks: Math.ceil(budget.listed / 16), loose: budget.listed },
      below,
      unread: makeNewestFirst(),
      queued: new Set(),
      counted: { read: 0, searched: 0, unreadable: 0, relists: 0 },
      stamp: yield* (yield* SearchStore).stamp(scope)
    }
    const { counted, unread } = run
    const hits = makeSearchHits(position)
    unread.push(below, { type: "blocks", after: null })
    unread.push(below, { type: "loose", after: null })
    for (;;) {
      const next = unread.peek()
      if (next === undefined) {
        if (yield* isSettled(run)) return answer(hits.since(-1), limit, null, counted)
        continue
      }
      const frontier = unread.highest()
      const late = (yield* Clock.currentTimeMillis) - started >= budget.millis || counted.read >= budget.bytes
      if (frontier < below && (late || hits.size() > limit)) {
        const sure = hits.since(frontier)
        if (late || sure.length > limit) {
          if (yield* isSettled(run)) return answer(sure, limit, { at: frontier }, counted)
          continue
        }
      }
      if (next.type === "page") yield* readPages(run, hits)
      else unread.take()
      if (next.type === "blocks") yield* listBlocks(run, next.after)
      if (next.type === "loose") yield* listLoose(run, next.after)
      if (next.type === "block") yield* readBlock(run, next.block)
    }
  }
)
