/**
 * Searching the archive, newest first and exactly: a page is opened where a vocabulary does not exclude it, and a hit is
 * answered once nothing unread can hold a newer one.
 */
import { Clock, Effect } from "effect"
import { lastSecond } from "../domain/archive/Records.ts"
import type { SearchHit, SearchPosition } from "../domain/archive/SearchHit.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { SearchStore } from "../ports/archive/SearchStore.ts"
import { makeNewestFirst } from "./NewestFirst.ts"
import { makeSearchHits, type PlacedHit, withMatches } from "./SearchHits.ts"
import type { SearchKeys, SearchServices } from "./SearchMatches.ts"
import { fewestBlocks, fewestPages, readBlocks, readPages } from "./SearchReading.ts"
import { isSettled, listCandidates, listLoose, type Run, searchedAfter, type SearchRequest } from "./SearchRun.ts"

export type { SearchRequest } from "./SearchRun.ts"

/** The budget of a call: it stops at the first time step beyond that, and at least one is done. */
export interface SearchBudget {
  readonly millis: number
  readonly bytes: number
  /** Rows without their frames that are listed at a time, and vocabularies. */
  readonly listed: number
  readonly vocabularies: number
  /** True where a list is a request to a service elsewhere: the second one is asked for beside the first one's reading. */
  readonly ahead?: boolean
}

const searchBudget: SearchBudget = { millis: 2000, bytes: 64 * 1024 * 1024, listed: 256, vocabularies: 16 }

/** The budget of a search whose lists are requests: long enough to be few, short enough to come while others are read. */
export const remoteBudget: SearchBudget = { ...searchBudget, vocabularies: 32, ahead: true }

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

/** The first hits; `frontier` is the time to which all is read, and `ended` is true where nothing is left. */
const answer = Effect.fnUntraced(function*<R>(
  run: Run<R>,
  found: ReadonlyArray<PlacedHit>,
  frontier: number,
  ended: boolean
) {
  const { counted, request: { limit, words }, sums } = run
  const full = found.length > limit
  const hits = found.slice(0, limit)
  const place = full ? hits.at(-1)?.last : ended ? undefined : { at: frontier }
  const result: SearchResult = {
    hits: yield* Effect.forEach(hits, ({ hit }) => withMatches(words, hit)),
    position: place === undefined ? null : { ...place, counted: Math.max(0, Math.min(counted, frontier)) },
    complete: full || ended,
    searched: searchedAfter(run, frontier),
    unreadable: sums.unreadable
  }
  return result
})

/** Runs one search within its budget. */
export const search: <R>(
  keys: SearchKeys<R>,
  request: SearchRequest,
  budget?: SearchBudget
) => Effect.Effect<SearchResult, ServiceUnavailable, SearchServices | R> = Effect.fnUntraced(
  function*<R>(keys: SearchKeys<R>, request: SearchRequest, budget: SearchBudget = searchBudget) {
    const started = yield* Clock.currentTimeMillis
    const { limit, position, scope } = request
    const below = Math.min(position?.at ?? lastSecond, (scope.until ?? lastSecond + 1) - 1)
    const sums = { read: 0, unreadable: 0, relists: 0 }
    const used = Effect.map(
      Clock.currentTimeMillis,
      (now) => Math.max((now - started) / budget.millis, sums.read / budget.bytes)
    )
    const run: Run<R> = {
      keys,
      request,
      atOnce: { blocks: budget.vocabularies, loose: budget.listed },
      below,
      counted: position?.counted ?? Infinity,
      unread: makeNewestFirst(),
      queued: new Set(),
      sums,
      searched: [],
      blocks: Math.min(fewestBlocks, budget.vocabularies),
      pages: Math.min(fewestPages, budget.listed),
      further: null,
      isEarly: Effect.map(used, (share) => share < 0.5),
      isLate: Effect.map(used, (share) => share >= 1),
      isOver: Effect.map(used, (share) => share >= 1.5),
      reached: Infinity,
      ahead: budget.ahead ?? false,
      stamps: yield* (yield* SearchStore).stamps(scope)
    }
    const { unread } = run
    const hits = makeSearchHits(position)
    unread.push(below, { type: "blocks", after: null, waiting: [] })
    unread.push(below, { type: "loose", after: null })
    for (;;) {
      const next = unread.peek()
      if (next === undefined) {
        if (yield* isSettled(run)) return yield* answer(run, hits.since(-1), -1, true)
        continue
      }
      const frontier = unread.highest()
      const late = yield* run.isLate
      const isListed = frontier <= run.reached || (yield* run.isOver)
      if (frontier < below && isListed && (late || hits.size() > limit)) {
        const sure = hits.since(frontier)
        if (late || sure.length > limit) {
          if (yield* isSettled(run)) return yield* answer(run, sure, frontier, false)
          run.reached = Math.min(run.reached, frontier)
          continue
        }
      }
      if (next.type === "page") yield* readPages(run, hits)
      else {
        unread.take()
        if (next.type === "blocks") yield* readBlocks(run, next.after, next.waiting)
        if (next.type === "loose") yield* listLoose(run, next.after)
        if (next.type === "candidates") yield* listCandidates(run, next.of)
      }
    }
  }
)
