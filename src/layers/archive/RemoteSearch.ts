/** The sealed input of a search, from a service elsewhere. */
import { Clock, Effect, Layer } from "effect"
import { decodeIds } from "../../domain/archive/MessageIds.ts"
import type { SealedBlockList } from "../../domain/archive/SealedArchive.ts"
import { sealedBlocksPerAnswer, sealedRowsPerAnswer } from "../../domain/Limits.ts"
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
import { Remembered } from "../Remembered.ts"
import { bytesOf } from "./RemoteBytes.ts"
import { RemoteStates } from "./RemoteStates.ts"
import { VocabularyCache } from "./VocabularyCache.ts"

/** Accounts that a request names; a scope with more of them is all that the caller reaches. */
const accountsNamed = 100
const looseAtOnce = 512
/** Pages that came with others of their block, and the milliseconds that they are used for. */
const pagesKept = 256
const freshFor = 5000

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

const nameOf = ({ accountId, number }: PageName) => `${accountId} ${number}`

/** Blocks that came with those of a list, for the list that follows it. */
interface ListedAhead {
  readonly name: string
  readonly at: number
  readonly blocks: ReadonlyArray<SearchBlock>
  readonly more: boolean
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
    const ahead = new Remembered<SealedSearchPage & { readonly at: number }>(pagesKept)

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

    let listed: ListedAhead | null = null
    let looseListed: ReadonlyArray<SearchPage> = []

    /** Pages that a search opens after this one, as it has no vocabulary to leave them out by. */
    const following = (page: PageName | undefined): ReadonlyArray<PageName> => {
      const at = page === undefined ? -1 : looseListed.findIndex((one) => nameOf(one) === nameOf(page))
      return at < 0 ? [] : looseListed.slice(at + 1)
    }

    const blockOf = (block: SealedBlockList["blocks"][number]): SearchBlock => {
      const sealed = block.sealed === null ? vocabularies.get(block.block_id) : bytesOf(block.sealed)
      if (block.sealed !== null && sealed !== undefined) {
        vocabularies.set(block.block_id, secondsOf(block.last_at), sealed)
      }
      return {
        accountId: block.account_id,
        blockId: BigInt(block.block_id),
        firstAt: secondsOf(block.first_at),
        lastAt: secondsOf(block.last_at),
        epochId: BigInt(block.epoch_id),
        fold: block.fold,
        pages: block.pages.map(BigInt),
        sealed: sealed ?? new Uint8Array()
      }
    }

    return SearchStore.of({
      stamp: (scope) =>
        scope.accountIds.length === 0 ? Effect.succeed("") : Effect.map(ask(scope, {}), ({ stamp }) => stamp),

      blocks: Effect.fnUntraced(function*(scope, below, after, limit) {
        const now = yield* Clock.currentTimeMillis
        const listOf = (position: ListPosition | null) => listName(scope, below, position)
        const before = listed?.name === listOf(after) && listed.at >= now - freshFor ? listed : null
        const found = [...before?.blocks ?? []]
        // A search that goes on beyond its first list reads many, and each request is one of a budget.
        const atOnce = after === null ? Math.min(limit, sealedBlocksPerAnswer) : sealedBlocksPerAnswer
        let from = positionOf(found) ?? after
        let more = before?.more ?? scope.accountIds.length > 0
        while (more && found.length < limit) {
          const { blocks, has_more } = yield* ask(scope, {
            blocks: {
              below: dateOf(below),
              ...(from === null ? {} : { after: { at: dateOf(from.lastAt), number: String(from.number) } }),
              limit: atOnce,
              known: vocabularies.names(from?.lastAt ?? Infinity)
            }
          })
          found.push(...blocks.map(blockOf))
          from = positionOf(found) ?? from
          more = blocks.length > 0 && (has_more || blocks.length === atOnce)
        }
        const taken = found.slice(0, limit)
        listed = { name: listOf(positionOf(taken)), at: now, blocks: found.slice(limit), more }
        return taken
      }),

      loose: (scope, below, after, limit) =>
        scope.accountIds.length === 0 ? Effect.succeed([]) : Effect.map(
          ask(scope, {
            loose: {
              below: dateOf(below),
              ...(after === null ? {} : { after: { at: dateOf(after.lastAt), number: String(after.number) } }),
              limit: Math.min(limit, looseAtOnce)
            }
          }),
          ({ pages }) => {
            const found = pages.map(pageOf)
            looseListed = after === null ? found : [...looseListed, ...found].slice(-looseAtOnce)
            return found
          }
        ),

      pages: Effect.fnUntraced(function*(scope, { accountId, blockId }, numbers) {
        if (numbers.length === 0) return []
        const at = yield* Clock.currentTimeMillis
        const { pages, sealed } = yield* ask(scope, {
          pages: { account_id: accountId, block_id: String(blockId), numbers: numbers.map(String) }
        })
        for (const each of sealed) ahead.set(nameOf(each.page), { ...each, at })
        return pages.map(pageOf)
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
          const asked = [
            ...needed,
            ...following(needed.at(-1)).slice(0, sealedRowsPerAnswer - needed.length)
          ]
          const { has_more, sealed } = yield* ask(scope, {
            sealed: asked.map(({ accountId, number }) => ({ account_id: accountId, number: String(number) }))
          })
          const at = yield* Clock.currentTimeMillis
          for (const each of sealed) {
            found.set(nameOf(each.page), each)
            ahead.set(nameOf(each.page), { ...each, at })
          }
          const last = sealed.at(-1)
          const end = last === undefined || !has_more
            ? asked.length
            : asked.findIndex((page) => nameOf(page) === nameOf(last.page)) + 1
          missing = missing.slice(end)
        }
        return pages.flatMap((page) => found.get(nameOf(page)) ?? [])
      }),

      message: (scope, accountId, chatId, messageId) =>
        Effect.map(
          ask(scope, {
            message: { account_id: accountId, chat_id: String(chatId), message_id: String(messageId) }
          }),
          ({ sealed }) => sealed
        )
    })
  })
)
