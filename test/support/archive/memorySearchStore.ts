/** An archive in memory, as a search reads it: sealed pages, in blocks or loose. */
import { Effect, Layer } from "effect"
import * as Frames from "../../../src/archive/Frames.ts"
import { sealVocabulary } from "../../../src/archive/Vocabularies.ts"
import type { EpochKey } from "../../../src/domain/archive/Epoch.ts"
import { foldVersion } from "../../../src/domain/archive/Fold.ts"
import { dayOf, endOfDay } from "../../../src/domain/archive/PageRules.ts"
import type { EditRecord, MessageRecord } from "../../../src/domain/archive/Records.ts"
import { textsOf } from "../../../src/domain/archive/Tokens.ts"
import {
  type ListPosition,
  type PageName,
  type SearchBlock,
  type SearchPage,
  type SearchScope,
  SearchStore
} from "../../../src/ports/archive/SearchStore.ts"
import { makeVocabulary } from "./vocabularies.ts"

export interface StoredPage {
  readonly page: SearchPage
  readonly ids: ReadonlyArray<bigint>
  readonly records: ReadonlyArray<MessageRecord | EditRecord>
  readonly sealed: Uint8Array
}

/** What stands in the archive; tests change it between calls. */
export interface StoredArchive {
  readonly pages: ReadonlyArray<StoredPage>
  readonly blocks: ReadonlyArray<SearchBlock>
}

const isEdit = (record: MessageRecord | EditRecord): record is EditRecord => "change" in record

/** Seals records of one chat and day, as a page of messages, or of edits of messages of a day. */
export const sealPage = Effect.fnUntraced(function*(
  key: EpochKey,
  chat: { readonly chatId: bigint; readonly shared: boolean },
  number: bigint,
  at: number,
  records: ReadonlyArray<MessageRecord | EditRecord>,
  sentDay = ""
) {
  const place = { chatId: chat.chatId, day: dayOf(at) }
  const edits = records.filter(isEdit)
  const messages = records.flatMap((record) => isEdit(record) ? [] : [record])
  const sealed = edits.length > 0
    ? yield* Frames.sealFrame(key, { ...place, kind: "changes" }, Number(number), edits)
    : yield* Frames.sealFrame(key, { ...place, kind: "messages" }, Number(number), messages)
  const times = edits.length > 0
    ? [Date.parse(sentDay) / 1000, endOfDay(sentDay)]
    : messages.map((message) => message.at)
  const page: SearchPage = {
    ...chat,
    accountId: key.ref.accountId,
    number,
    day: place.day,
    kind: edits.length > 0 ? "changes" : "messages",
    firstAt: Math.min(...times),
    lastAt: Math.max(...times),
    messages: messages.length
  }
  return { page, ids: messages.map(({ id }) => id), records, sealed }
})

/** Seals the vocabulary of pages of one account. */
export const sealBlock = Effect.fnUntraced(
  function*(key: EpochKey, blockId: bigint, given: ReadonlyArray<StoredPage>) {
    const pages = given.toSorted((one, other) => other.page.lastAt - one.page.lastAt)
    const messages = pages.reduce((sum, { page }) => sum + page.messages, 0)
    const block: SearchBlock = {
      accountId: key.ref.accountId,
      blockId,
      firstAt: Math.min(...pages.map(({ page }) => page.firstAt)),
      lastAt: Math.max(...pages.map(({ page }) => page.lastAt)),
      epochId: key.ref.epochId,
      fold: foldVersion,
      pages: pages.map(({ page }) => page.number),
      sealed: yield* sealVocabulary(
        key,
        blockId,
        makeVocabulary(pages.map(({ records }) => textsOf(records)), messages)
      )
    }
    return block
  }
)

const newestFirst = <A>(
  values: ReadonlyArray<A>,
  placeOf: (value: A) => ListPosition,
  after: ListPosition | null,
  limit: number
): ReadonlyArray<A> => {
  const order = (one: ListPosition, other: ListPosition) =>
    other.lastAt - one.lastAt || Number(other.number - one.number)
  return values.toSorted((one, other) => order(placeOf(one), placeOf(other)))
    .filter((value) => after === null || order(after, placeOf(value)) < 0).slice(0, limit)
}

/** The store of what `archive` answers at each read. */
export const layer = (archive: () => StoredArchive) => {
  const ofScope = <A extends { readonly accountId: SearchPage["accountId"] }>(
    scope: SearchScope,
    values: ReadonlyArray<A>
  ) => values.filter(({ accountId }) => scope.accountIds.includes(accountId))
  const read = <A>(answer: (stored: StoredArchive) => A) => Effect.sync(() => answer(archive()))
  const same = (one: PageName, other: PageName) => one.accountId === other.accountId && one.number === other.number
  return Layer.succeed(SearchStore, {
    stamps: (scope) =>
      read(({ blocks, pages }) => ({
        blocks: ofScope(scope, blocks).map(({ blockId }) => blockId).join(),
        loose: ofScope(scope, pages.map(({ page }) => page)).map(({ number }) => number).join()
      })),
    blocks: (scope, below, after, limit) =>
      read(({ blocks }) =>
        newestFirst(
          ofScope(scope, blocks).filter(({ firstAt }) => firstAt <= below),
          ({ blockId, lastAt }) => ({ lastAt, number: blockId }),
          after,
          limit
        )
      ),
    loose: (scope, below, after, limit) =>
      read(({ blocks, pages }) => {
        const loose = pages.map(({ page }) => page).filter((page) =>
          page.firstAt <= below &&
          !blocks.some((block) => block.accountId === page.accountId && block.pages.includes(page.number))
        )
        return newestFirst(ofScope(scope, loose), ({ lastAt, number }) => ({ lastAt, number }), after, limit)
      }),
    pages: ({ chatIds, since }, named, below) =>
      read(({ pages }) => {
        const wanted = pages.map(({ page }) => page).filter((page) =>
          named.some((name) => same(page, name)) && page.firstAt <= below &&
          (chatIds === null || chatIds.includes(page.chatId)) && (since === null || page.lastAt >= since)
        )
        return newestFirst(wanted, ({ lastAt, number }) => ({ lastAt, number }), null, wanted.length)
      }),
    sealed: (_, wanted) =>
      read(({ pages }) => wanted.flatMap((page) => pages.filter((stored) => same(stored.page, page)).slice(0, 1))),
    messages: ({ since, until }, accountId, chatId, messageIds) =>
      read(({ pages }) =>
        pages.filter(({ page, records }) =>
          page.accountId === accountId && page.chatId === chatId && page.kind === "messages" &&
          (since === null || page.lastAt >= since) && (until === null || page.firstAt < until) &&
          records.some(({ id }) => messageIds.some((asked) => asked === id))
        )
      )
  })
}
