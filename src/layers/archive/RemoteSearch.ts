/** The sealed input of a search, from a service elsewhere. */
import { Clock, Effect, Layer } from "effect"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { decodeIds, encodeIds, sortedIds } from "../../domain/archive/MessageIds.ts"
import { piecesOf } from "../../domain/archive/PageRules.ts"
import type { SealedBlockList } from "../../domain/archive/SealedArchive.ts"
import {
  sealedBlocksNamed,
  sealedBlocksPerAnswer,
  sealedPagesListed,
  sealedRowsPerAnswer
} from "../../domain/Limits.ts"
import { SealedArchive, type SealedBlocksRequest } from "../../ports/archive/SealedArchive.ts"
import {
  type ListPosition,
  type PageName,
  type SealedSearchPage,
  type SearchBlock,
  type SearchPage,
  type SearchScope,
  SearchStore
} from "../../ports/archive/SearchStore.ts"
import { LruCache } from "../LruCache.ts"
import { bytesOf } from "./RemoteBytes.ts"
import { RemoteStates } from "./RemoteStates.ts"
import { VocabularyCache } from "./VocabularyCache.ts"

/** Accounts that a request names; a scope with more of them is all that the caller reaches. */
const accountsNamed = 100
/** Pages that came before they were asked for, and the milliseconds that they are used for. */
const pagesKept = 512
const freshFor = 5000
/** Lists that are gone on with: of one search, and of those that have just ended. */
const listsKept = 8
/** Pages that were listed, the newest of which a search opens next. */
const pagesListed = 4096

const secondsOf = (at: Date): number => at.getTime() / 1000
const dateOf = (seconds: number): Date => new Date(Math.round(seconds * 1000))

const scoped = ({ accountIds, chatIds, since, until }: SearchScope): SealedBlocksRequest => ({
  ...(accountIds.length > accountsNamed ? {} : { account_ids: accountIds }),
  ...(chatIds === null || chatIds.length === 0 ? {} : { chat_ids: chatIds.map(String) }),
  ...(since === null ? {} : { since: dateOf(since) }),
  ...(until === null ? {} : { until: dateOf(until) })
})

const pageOf = (page: SealedBlockList["pages"][number]): SearchPage => ({
  accountId: page.account_id,
  chatId: BigInt(page.chat_id),
  number: BigInt(page.number),
  day: page.day,
  kind: page.kind === "changes" ? "changes" : "messages",
  firstAt: secondsOf(page.first_at),
  lastAt: secondsOf(page.last_at),
  messages: page.messages,
  shared: page.shared
})

const sealedOf = (page: SealedBlockList["pages"][number]): ReadonlyArray<SealedSearchPage> =>
  page.sealed === null
    ? []
    : [{ page: pageOf(page), ids: decodeIds(bytesOf(page.ids ?? "")), sealed: bytesOf(page.sealed) }]

/** Requests that name all the candidates, each of as many accounts and pages as one may have. */
const requestsOf = (named: ReadonlyArray<PageName>) =>
  piecesOf([...named].sort(byAccount), sealedPagesListed).flatMap((pages) =>
    piecesOf(
      [...Map.groupBy(pages, ({ accountId }) => accountId)].map(([account_id, of]) => ({
        account_id,
        numbers: toBase64(encodeIds(sortedIds(of.map(({ number }) => number))))
      })),
      sealedBlocksNamed
    )
  )

const byAccount = (one: PageName, other: PageName): number =>
  one.accountId < other.accountId ? -1 : one.accountId > other.accountId ? 1 : 0

const newestFirst = (one: SearchPage, other: SearchPage): number =>
  other.lastAt - one.lastAt || (one.number < other.number ? 1 : one.number > other.number ? -1 : 0)

const atPosition = (after: ListPosition | null) =>
  after === null ? {} : { after: { at: dateOf(after.lastAt), number: String(after.number) } }

const nameOf = ({ accountId, number }: PageName) => `${accountId} ${number}`

/** Blocks, and whether more of them follow. */
interface BlockList {
  readonly blocks: ReadonlyArray<SearchBlock>
  readonly more: boolean
}

/** The blocks that came with those of a list, for the list that follows it. */
interface ListedAhead extends BlockList {
  readonly at: number
}

const positionOf = (blocks: ReadonlyArray<SearchBlock>): ListPosition | null => {
  const last = blocks.at(-1)
  return last === undefined ? null : { lastAt: last.lastAt, number: last.blockId }
}

const listName = (scope: SearchScope, below: number, after: ListPosition | null): string =>
  JSON.stringify([scope.accountIds, scoped(scope), below, after?.lastAt, String(after?.number)])

export const layer = Layer.effect(
  SearchStore,
  Effect.gen(function*() {
    const service = yield* SealedArchive
    const states = yield* RemoteStates
    const vocabularies = new VocabularyCache()
    const ahead = new LruCache<SealedSearchPage & { readonly at: number }>(pagesKept)

    /** Answers what is of the scope alone, whatever the service sends. */
    const ask = Effect.fnUntraced(function*(scope: SearchScope, part: SealedBlocksRequest) {
      const answer = yield* Effect.orDie(service.blocks({ ...scoped(scope), ...part }))
      const accounts = new Set(scope.accountIds)
      const pages = answer.pages.filter(({ account_id }) => accounts.has(account_id))
      const sealed = pages.flatMap(sealedOf)
      const stated = sealed.slice(0, answer.stated).flatMap(({ ids, page: { accountId, chatId } }) =>
        ids.map((id) => ({ accountId, chatId, id }))
      )
      yield* states.keep(answer, stated)
      return { ...answer, blocks: answer.blocks.filter(({ account_id }) => accounts.has(account_id)), pages, sealed }
    })

    const listed = new LruCache<ListedAhead>(listsKept)
    let listedPages: ReadonlyArray<SearchPage> = []

    /** Remembers pages that a search opens, the newest first. */
    const notePages = (pages: ReadonlyArray<SearchPage>): void => {
      const known = new Map([...listedPages, ...pages].map((page) => [nameOf(page), page]))
      listedPages = [...known.values()].sort(newestFirst).slice(0, pagesListed)
    }

    /** Pages that a search opens after this one. */
    const following = (page: PageName | undefined, most: number): ReadonlyArray<PageName> => {
      const at = page === undefined ? -1 : listedPages.findIndex((one) => nameOf(one) === nameOf(page))
      return at < 0 ? [] : listedPages.slice(at + 1).filter((one) => !ahead.has(nameOf(one))).slice(0, most)
    }

    /** The block as it was read now or before; null where the service leaves out what is not known here. */
    const blockOf = (block: SealedBlockList["blocks"][number]): SearchBlock | null => {
      const known = vocabularies.get(block.block_id)
      if (block.sealed === null) return known?.accountId === block.account_id ? known : null
      const read: SearchBlock = {
        accountId: block.account_id,
        blockId: BigInt(block.block_id),
        firstAt: secondsOf(block.first_at),
        lastAt: secondsOf(block.last_at),
        epochId: BigInt(block.epoch_id),
        fold: block.fold,
        // Of most vocabularies a search needs no page.
        get pages() {
          return block.pages === "" ? [] : block.pages.split(",").map(BigInt)
        },
        sealed: bytesOf(block.sealed)
      }
      vocabularies.set(block.block_id, read)
      return read
    }

    const askBlocks = Effect.fnUntraced(
      function*(scope: SearchScope, below: number, after: ListPosition | null, unknown: number) {
        const names = vocabularies.names(after)
        // Those that are known cost little; of the others, a search may need the newest alone.
        const limit = names.length === 0 ? unknown : sealedBlocksPerAnswer
        const list = (known: ReadonlyArray<string>) =>
          ask(scope, { blocks: { below: dateOf(below), ...atPosition(after), limit, known } })
        const answer = yield* list(names)
        const blocks = answer.blocks.map(blockOf)
        const more = ({ blocks, has_more }: typeof answer) => blocks.length > 0 && (has_more || blocks.length === limit)
        if (!blocks.includes(null)) return { blocks: blocks.flatMap((block) => block ?? []), more: more(answer) }
        // One that was known has been dropped from memory meanwhile.
        const whole = yield* list([])
        return { blocks: whole.blocks.flatMap((block) => blockOf(block) ?? []), more: more(whole) }
      }
    )

    return SearchStore.of({
      stamps: (scope) =>
        scope.accountIds.length === 0
          ? Effect.succeed({ blocks: "", loose: "" })
          : Effect.map(ask(scope, {}), ({ loose_stamp, stamp }) => ({ blocks: stamp, loose: loose_stamp })),

      blocks: Effect.fnUntraced(function*(scope, below, after, limit) {
        if (scope.accountIds.length === 0) return []
        const now = yield* Clock.currentTimeMillis
        const nameAt = (position: ListPosition | null) => listName(scope, below, position)
        const known = listed.peek(nameAt(after))
        const before = known !== undefined && known.at >= now - freshFor ? known : null
        const found = [...before?.blocks ?? []]
        let from = positionOf(found) ?? after
        let more = before?.more ?? true
        while (more && found.length < limit) {
          const part: BlockList = yield* askBlocks(scope, below, from, limit - found.length)
          found.push(...part.blocks)
          from = positionOf(part.blocks) ?? from
          more = part.more
        }
        const taken = found.slice(0, limit)
        // After a list that was not full, none follows.
        if (taken.length === limit) {
          listed.set(nameAt(positionOf(taken)), { at: now, blocks: found.slice(limit), more })
        }
        return taken
      }),

      loose: (scope, below, after, limit) =>
        scope.accountIds.length === 0 ? Effect.succeed([]) : Effect.map(
          ask(scope, {
            loose: { below: dateOf(below), ...atPosition(after), limit: Math.min(limit, sealedPagesListed) }
          }),
          ({ pages }) => {
            const found = pages.map(pageOf)
            if (after === null) listedPages = []
            notePages(found)
            return found
          }
        ),

      pages: Effect.fnUntraced(function*(scope, named, below) {
        const at = yield* Clock.currentTimeMillis
        const answers = yield* Effect.forEach(
          requestsOf(named),
          (candidates) => ask(scope, { pages: { below: dateOf(below), candidates } })
        )
        for (const each of answers.flatMap(({ sealed }) => sealed)) ahead.set(nameOf(each.page), { ...each, at })
        const pages = answers.flatMap((answer) => answer.pages.map(pageOf)).sort(newestFirst)
        notePages(pages)
        return pages
      }),

      sealed: Effect.fnUntraced(function*(scope, pages) {
        const oldest = (yield* Clock.currentTimeMillis) - freshFor
        const found = new Map<string, SealedSearchPage>()
        for (const page of pages) {
          const known = ahead.peek(nameOf(page))
          if (known !== undefined && known.at >= oldest) found.set(nameOf(page), known)
        }
        let missing = pages.filter((page) => !found.has(nameOf(page)))
        while (missing.length > 0) {
          const needed = missing.slice(0, sealedRowsPerAnswer)
          const last = needed.at(-1)
          const asked = [...needed, ...following(last, sealedRowsPerAnswer - needed.length)]
          const { has_more, sealed } = yield* ask(scope, {
            sealed: asked.map(({ accountId, number }) => ({ account_id: accountId, number: String(number) }))
          })
          const at = yield* Clock.currentTimeMillis
          for (const each of sealed) {
            found.set(nameOf(each.page), each)
            ahead.set(nameOf(each.page), { ...each, at })
          }
          const end = sealed.at(-1)
          const answered = end === undefined || !has_more
            ? asked.length
            : asked.findIndex((page) => nameOf(page) === nameOf(end.page)) + 1
          missing = missing.slice(answered)
        }
        return pages.flatMap((page) => found.get(nameOf(page)) ?? [])
      }),

      messages: Effect.fnUntraced(function*(scope, accountId, chatId, messageIds) {
        const found = new Map<string, SealedSearchPage>()
        const held = new Set<bigint>()
        for (const messageId of messageIds) {
          if (held.has(messageId)) continue
          const { sealed } = yield* ask(scope, {
            message: { account_id: accountId, chat_id: String(chatId), message_id: String(messageId) }
          })
          for (const each of sealed) {
            found.set(nameOf(each.page), each)
            for (const id of each.ids) held.add(id)
          }
        }
        return [...found.values()]
      })
    })
  })
)
