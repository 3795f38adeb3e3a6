/** Reading of vocabularies and pages by a search, those that can hold the newest messages first. */
import { Effect, Semaphore } from "effect"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import { foldVersion } from "../domain/archive/Fold.ts"
import type { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { candidatePages, mayMatch } from "../domain/archive/Vocabulary.ts"
import { type ListPosition, type SearchBlock, SearchStore } from "../ports/archive/SearchStore.ts"
import type { SearchHits } from "./SearchHits.ts"
import { matchPage } from "./SearchMatches.ts"
import { type Candidates, listAgain, listBlocks, nameOf, queueNext, type Run, type Unread } from "./SearchRun.ts"
import { openVocabulary } from "./Vocabularies.ts"

/** Pages that are read at a time, at first and at most. */
export const fewestPages = 8
export const fewestBlocks = 8
const mostPages = 32
/** Vocabularies that are opened at the same time. */
const openedAtOnce = 4
/** The vocabulary of a block; null where it does not open or is of another folding. */
const openBlock = Effect.fnUntraced(
  function*<R>({ request: { kept }, sums }: Run<R>, block: SearchBlock, key: EpochKey) {
    const known = kept?.get(block)
    if (known !== undefined) return known
    sums.read += block.sealed.length
    const opened = yield* openVocabulary(key, block.blockId, block.sealed)
    kept?.set(block, opened)
    return opened
  }
)

/** The pages of the block that can match; null where its vocabulary is not one of its pages. */
const readBlock = Effect.fnUntraced(
  function*<R>(run: Run<R>, block: SearchBlock, key: EpochKey, turn: Semaphore.Semaphore) {
    const { words } = run.request
    const vocabulary = yield* openBlock(run, block, key)
    const postings = mayMatch(vocabulary.words, words) ? yield* vocabulary.postings : null
    const look = Effect.sync((): ReadonlyArray<bigint> | null => {
      const positions = postings === null ? [] : candidatePages(vocabulary.words, postings, block.pages.length, words)
      if (positions === null) return null
      run.searched.push({ lastAt: block.lastAt, messages: vocabulary.messages })
      return positions.flatMap((position) => block.pages.slice(position, position + 1))
    })
    return yield* turn.withPermits(1)(Effect.tap(look, Effect.yieldNow))
  }
)

const orNull = <A, E, R>(effect: Effect.Effect<A, E | ArchiveUnreadable, R>) =>
  Effect.catchTag(effect, "ArchiveUnreadable", () => Effect.succeed(null))

/** Reads the next blocks: each is opened by itself, and their candidates are listed together with those that wait. */
export const readBlocks = Effect.fnUntraced(function*<R>(
  run: Run<R>,
  after: ListPosition | null,
  waiting: ReadonlyArray<Candidates>
) {
  const { blocks, next } = yield* listBlocks(run, after)
  // An epoch is looked up once, for all of its blocks.
  const keys = yield* Effect.forEach(
    blocks,
    (block) => block.fold === foldVersion ? orNull(run.keys(block.accountId, block.epochId)) : Effect.succeed(null)
  )
  // While one is looked through, others are inflated.
  const turn = Semaphore.makeUnsafe(1)
  const candidates = yield* Effect.forEach(blocks, (block, at) => {
    const key = keys[at]
    return key === null || key === undefined ? Effect.succeed(null) : orNull(readBlock(run, block, key, turn))
  }, { concurrency: openedAtOnce })
  const found = blocks.flatMap(({ accountId, lastAt, pages }, at): ReadonlyArray<Candidates> => {
    const numbers = candidates[at] ?? null
    return numbers?.length === 0 ? [] : [{ accountId, lastAt, numbers: numbers ?? pages, scanned: numbers === null }]
  })
  yield* queueNext(run, [...waiting, ...found], next)
})

type UnreadPage = Extract<Unread, { readonly type: "page" }>

/** Takes the pages that come next. */
const takePages = <R>(run: Run<R>): ReadonlyMap<string, UnreadPage> => {
  const { unread } = run
  const taken = new Map<string, UnreadPage>()
  for (let next = unread.peek(); next?.type === "page" && taken.size < run.pages; next = unread.peek()) {
    unread.take()
    taken.set(nameOf(next.page), next)
  }
  run.pages = Math.min(run.pages * 2, mostPages)
  return taken
}

/** Reads the pages that come next; those that the budget does not reach are queued again. */
export const readPages = Effect.fnUntraced(function*<R>(run: Run<R>, hits: SearchHits) {
  const store = yield* SearchStore
  const taken = takePages(run)
  const pages = yield* store.sealed(run.request.scope, [...taken.values()].map(({ page }) => page))
  if (pages.length < taken.size) listAgain(run)
  for (const [at, page] of pages.entries()) {
    const queued = taken.get(nameOf(page.page))
    if (queued === undefined) continue
    // Before all that reaches beyond the search's end is read, nothing can be answered.
    const rank = Math.min(queued.page.lastAt, run.below)
    if (at > 0 && rank < run.below && (yield* run.isLate)) {
      run.unread.push(rank, queued)
      continue
    }
    const { found, read, unreadable } = yield* matchPage(run.keys, run.request, page)
    for (const each of found) hits.add(each)
    run.searched.push({ lastAt: queued.page.lastAt, messages: queued.uncounted })
    run.sums.read += read
    run.sums.unreadable += unreadable ? 1 : 0
    if (unreadable) run.request.missed?.(page.page)
    yield* Effect.yieldNow
  }
})
