/** Reading of vocabularies and pages by a search, those that can hold the newest messages first. */
import { Effect } from "effect"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import { foldVersion } from "../domain/archive/Fold.ts"
import { piecesOf } from "../domain/archive/PageRules.ts"
import { lastSecond } from "../domain/archive/Records.ts"
import type { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { SearchMatcher } from "../ports/archive/SearchMatcher.ts"
import {
  type ListPosition,
  type SealedSearchPage,
  type SearchBlock,
  SearchStore
} from "../ports/archive/SearchStore.ts"
import type { SearchHits } from "./SearchHits.ts"
import { matchPages } from "./SearchMatches.ts"
import {
  type Candidates,
  listAgain,
  listBlocks,
  nameOf,
  nameOfBlock,
  queueNext,
  type Run,
  type Unread
} from "./SearchRun.ts"

/** Pages that are read at a time, at first and at most. */
export const fewestPages = 8
export const fewestBlocks = 8
const mostPages = 256
/** Pages that are asked for and opened together. */
const pagesTogether = 64
const piecesAtOnce = 2
/** Vocabularies that are opened at the same time. */
const openedAtOnce = 4

/** The pages of the block that can match; null where its vocabulary does not open or is not one of its pages. */
const readBlock = Effect.fnUntraced(function*<R>(run: Run<R>, block: SearchBlock, key: EpochKey) {
  const matcher = yield* SearchMatcher
  const matches = yield* matcher.block(run.request.words, { ...block, key, pages: block.pages.length })
  run.sums.read += matches?.read ?? block.sealed.length
  if (matches === null) return null
  run.searched.push({ lastAt: block.lastAt, messages: matches.messages })
  return matches.positions.flatMap((position) => block.pages.slice(position, position + 1))
})

const orNull = <A, E, R>(effect: Effect.Effect<A, E | ArchiveUnreadable, R>) =>
  Effect.catchTag(effect, "ArchiveUnreadable", () => Effect.succeed(null))

/** Before all that reaches beyond the search's end is read, nothing can be answered. */
const canWait = <R>(run: Run<R>, { lastAt }: { readonly lastAt: number }) =>
  lastAt < run.below && lastAt <= run.reached ? run.isLate : Effect.succeed(false)

/**
 * Reads the next blocks: each is opened by itself, and their candidates are listed together with those that wait. Once the
 * budget is used, those after the first that the answer can do without are left for the next list.
 */
export const readBlocks = Effect.fnUntraced(function*<R>(
  run: Run<R>,
  after: ListPosition | null,
  waiting: ReadonlyArray<Candidates>
) {
  const { blocks: listed, next: nextList } = yield* listBlocks(run, after)
  // An epoch is looked up once, for all of its blocks.
  const keys = yield* Effect.forEach(
    listed,
    (block) => block.fold === foldVersion ? orNull(run.keys(block.accountId, block.epochId)) : Effect.succeed(null)
  )
  let end = listed.length
  const candidates = yield* Effect.forEach(
    listed,
    Effect.fnUntraced(function*(block, at) {
      if (at > 0 && at < end && (yield* canWait(run, block))) end = Math.min(end, at)
      const key = keys[at]
      return at >= end || key === null || key === undefined ? null : yield* readBlock(run, block, key)
    }),
    { concurrency: openedAtOnce }
  )
  const blocks = listed.slice(0, end)
  const found = blocks.flatMap(({ accountId, lastAt, pages }, at): ReadonlyArray<Candidates> => {
    const numbers = candidates[at] ?? null
    return numbers?.length === 0 ? [] : [{ accountId, lastAt, numbers: numbers ?? pages, scanned: numbers === null }]
  })
  const last = blocks.at(-1)
  const left = listed.slice(end)
  for (const block of left) run.queued.delete(nameOfBlock(block))
  const next = left.length === 0 || last === undefined ? nextList : { lastAt: last.lastAt, number: last.blockId }
  yield* queueNext(run, [...waiting, ...found], next, left[0]?.lastAt)
})

type UnreadPage = Extract<Unread, { readonly type: "page" }>

/** Takes the pages that come next. */
const takePages = <R>(run: Run<R>): ReadonlyArray<UnreadPage> => {
  const { unread } = run
  const taken: Array<UnreadPage> = []
  for (let next = unread.peek(); next?.type === "page" && taken.length < run.pages; next = unread.peek()) {
    unread.take()
    taken.push(next)
  }
  run.pages = Math.min(run.pages * 2, mostPages)
  return taken
}

/** Reads pages together; where the budget is used, those that the answer can do without are queued again instead. */
const readTogether = Effect.fnUntraced(function*<R>(
  run: Run<R>,
  hits: SearchHits,
  taken: ReadonlyArray<UnreadPage>,
  isFirst: boolean
) {
  const goesBack = ({ page }: UnreadPage) => canWait(run, page)
  const queueAgain = (queued: UnreadPage) => run.unread.push(Math.min(queued.page.lastAt, run.below), queued)
  const wanted = new Map<string, UnreadPage>()
  for (const queued of taken) {
    if (!(isFirst && wanted.size === 0) && (yield* goesBack(queued))) queueAgain(queued)
    else wanted.set(nameOf(queued.page), queued)
  }
  if (wanted.size === 0) return
  const store = yield* SearchStore
  const sealed = yield* store.sealed(run.request.scope, [...wanted.values()].map(({ page }) => page))
  if (sealed.length < wanted.size) listAgain(run)
  const read: Array<SealedSearchPage> = []
  for (const page of sealed) {
    const queued = wanted.get(nameOf(page.page))
    if (queued === undefined) continue
    if (!(isFirst && read.length === 0) && (yield* goesBack(queued))) {
      queueAgain(queued)
      continue
    }
    run.sums.read += page.sealed.length
    run.searched.push({ lastAt: queued.page.lastAt, messages: queued.uncounted })
    read.push(page)
  }
  const { scope } = run.request
  // Messages of edits that were sent later are not looked up: earlier calls have answered them.
  const until = run.below >= lastSecond ? scope.until : Math.floor(run.below) + 1
  const criteria = { ...run.request, scope: { ...scope, until } }
  for (const { found, page, readBeside, unreadable } of yield* matchPages(run.keys, criteria, read)) {
    for (const each of found) hits.add(each)
    run.sums.read += readBeside
    run.sums.unreadable += unreadable ? 1 : 0
    if (unreadable) run.request.missed?.(page)
  }
})

/** Reads the pages that come next: some are opened while others are asked for. */
export const readPages = <R>(run: Run<R>, hits: SearchHits) =>
  Effect.forEach(
    piecesOf(takePages(run), pagesTogether),
    (pages, turn) => readTogether(run, hits, pages, turn === 0),
    { concurrency: piecesAtOnce, discard: true }
  )
