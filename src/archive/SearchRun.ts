/** A search of the archive under way: what is still to be read, and the lists that it comes from. */
import { Effect, Fiber } from "effect"
import type { SearchPosition } from "../domain/archive/SearchHit.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import {
  type CandidatePages,
  type ListPosition,
  type PageName,
  type SearchBlock,
  type SearchPage,
  SearchStore
} from "../ports/archive/SearchStore.ts"
import type { NewestFirst } from "./NewestFirst.ts"
import type { SearchCriteria, SearchKeys } from "./SearchMatches.ts"
import type { OpenVocabulary } from "./Vocabularies.ts"

/** Opened vocabularies that a reader keeps from one search to the next. */
export interface KeptVocabularies {
  readonly get: (block: SearchBlock) => OpenVocabulary | undefined
  readonly set: (block: SearchBlock, opened: OpenVocabulary) => void
}

export interface SearchRequest extends SearchCriteria {
  readonly limit: number
  /** Null for the newest. */
  readonly position: SearchPosition | null
  /** Called for each page that did not open. */
  readonly missed?: (page: PageName) => void
  /** Without them each search opens what it needs. */
  readonly kept?: KeptVocabularies
}

/** Pages that a cleanup deletes meanwhile would be missed again and again. */
const mostRelists = 3

/** Candidates of blocks; those of `scanned` ones are all their pages, which no vocabulary has counted. */
export interface Candidates {
  readonly of: ReadonlyArray<CandidatePages>
  readonly scanned: boolean
}

/** The sources still to be read, ranked by the newest message that each can hold. */
export type Unread =
  | { readonly type: "blocks" | "loose"; readonly after: ListPosition | null }
  | { readonly type: "block"; readonly block: SearchBlock }
  | { readonly type: "candidates"; readonly candidates: Candidates; readonly after: ListPosition }
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
  readonly sums: { read: number; searched: number; unreadable: number; relists: number }
  /** Pages that are read the next time. */
  pages: number
  /** The blocks after a place, which are listed while those before them are read. */
  further: { readonly after: ListPosition; readonly blocks: Fiber.Fiber<Blocks, ServiceUnavailable> } | null
  /** The rank of what was read last: all that is ranked above it is read. */
  lowest: number
  /** The store's stamp before it was last listed. */
  stamp: string
}

/** Counts messages as searched that end at the time, once in all calls of a search. */
export const count = <R>({ counted, sums }: Run<R>, lastAt: number, messages: number): void => {
  if (lastAt <= counted) sums.searched += messages
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

/** Lists blocks. From the second list on, the next one is read meanwhile: a search that needs two mostly needs more. */
export const listBlocks = Effect.fnUntraced(function*<R>(run: Run<R>, after: ListPosition | null) {
  const store = yield* SearchStore
  const { further } = run
  run.further = null
  const list = (from: ListPosition | null) => store.blocks(run.request.scope, run.below, from, run.atOnce.blocks)
  const isThere = further !== null && further.after.number === after?.number && further.after.lastAt === after.lastAt
  const blocks = yield* isThere ? Fiber.join(further.blocks) : list(after)
  for (const block of blocks) {
    const key = `${block.accountId}/block ${block.blockId}`
    if (!run.queued.has(key)) run.unread.push(Math.min(block.lastAt, run.below), { type: "block", block })
    run.queued.add(key)
  }
  const last = blocks.at(-1)
  if (last === undefined || blocks.length < run.atOnce.blocks) return
  const next = { lastAt: last.lastAt, number: last.blockId }
  if (after !== null) run.further = { after: next, blocks: yield* Effect.forkDetach(list(next)) }
  run.unread.push(Math.min(last.lastAt, run.below), { type: "blocks", after: next })
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
export const listAgain = <R>({ below, sums, unread }: Run<R>): void => {
  if (sums.relists >= mostRelists) return
  sums.relists += 1
  unread.push(below, { type: "blocks", after: null })
  unread.push(below, { type: "loose", after: null })
}

/** True if no page can have moved into a block, or out of one, between two lists; otherwise lists again. */
export const isSettled = Effect.fnUntraced(function*<R>(run: Run<R>) {
  if (run.sums.relists >= mostRelists) return true
  const stamp = yield* (yield* SearchStore).stamp(run.request.scope)
  if (stamp === run.stamp) return true
  run.stamp = stamp
  listAgain(run)
  return false
})

/** Lists the candidates from the newest on. */
export const listCandidates = Effect.fnUntraced(
  function*<R>(run: Run<R>, candidates: Candidates, after: ListPosition | null) {
    if (candidates.of.length === 0) return
    const store = yield* SearchStore
    const { pages, settled } = yield* store.pages(run.request.scope, candidates.of, run.below, after, run.atOnce.loose)
    for (const page of pages) queuePage(run, page, candidates.scanned ? page.messages : 0)
    if (!settled && after === null) listAgain(run)
    const last = pages.at(-1)
    if (last === undefined || pages.length < run.atOnce.loose) return
    const next = { lastAt: last.lastAt, number: last.number }
    run.unread.push(Math.min(last.lastAt, run.below), { type: "candidates", candidates, after: next })
  }
)
