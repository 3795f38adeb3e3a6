/** The making of vocabularies: by a writer for the pages that it has made, and by a reader for those that have none. */
import { Clock, Duration, Effect, Option, Schema } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { FrameKind } from "../domain/archive/Epoch.ts"
import { foldVersion } from "../domain/archive/Fold.ts"
import {
  charactersPerBlock,
  endOfDay,
  fewestPagesOfBlock,
  pagesPerBlock,
  piecesOf,
  quarterOf
} from "../domain/archive/PageRules.ts"
import type { ChangeRecord, MessageRecord } from "../domain/archive/Records.ts"
import { textsOf, tokensOfTexts } from "../domain/archive/Tokens.ts"
import { type GrowingVocabulary, growVocabulary, type Vocabulary } from "../domain/archive/Vocabulary.ts"
import type { NewPage } from "../ports/archive/ArchiveRecords.ts"
import type { OpenedKeys, Unlocked } from "../ports/archive/ArchiveUnlock.ts"
import { type ArchivedAccount, Epochs } from "../ports/archive/Epochs.ts"
import { type LoosePage, type LoosePages, SearchBlocks } from "../ports/archive/SearchBlocks.ts"
import { Db } from "../ports/Db.ts"
import { eraseEpochKey, newEpoch } from "./EpochKeys.ts"
import type { EpochWriter, MadePage } from "./EpochWriter.ts"
import { openAccount, openEach } from "./OpenedFrames.ts"
import { sealVocabulary } from "./Vocabularies.ts"

/** Pages whose frames are in memory together. */
const pagesAtOnce = 16

/** Pages that have no vocabulary are opened by each search: they wait for others no longer. */
const longestWait = Duration.minutes(15)

/** The time that a reader may take after its answer, in milliseconds. */
const readerMillis = 50

/** Another process has made a vocabulary of a page, or deletes it. */
class PagesTaken extends Schema.TaggedError<PagesTaken>()("PagesTaken", {}) {}

/** The parts of a block: pages in its order, and their vocabulary. */
interface ReadPages {
  readonly pages: Array<bigint>
  readonly vocabulary: GrowingVocabulary
  messages: number
  characters: number
  /** True if another page did not fit. */
  readonly isFull: boolean
}

type Records = ReadonlyArray<MessageRecord | ChangeRecord>

/**
 * Reads pages until a block is full or the time is `until`. What does not open is left out. After each page other work
 * has its turn.
 */
const readPages = Effect.fnUntraced(function*<E, R>(
  account: ArchivedAccount,
  numbers: ReadonlyArray<bigint>,
  open: (page: LoosePage) => Effect.Effect<Records | null, E, R>,
  until: number
) {
  const db = yield* Db
  const blocks = yield* SearchBlocks
  const found: ReadPages = { pages: [], vocabulary: growVocabulary(), messages: 0, characters: 0, isFull: false }
  for (const piece of piecesOf(numbers, pagesAtOnce)) {
    for (const page of yield* db.read(account.organizationId, blocks.loose(account, piece))) {
      const records = yield* open(page)
      if (records === null) continue
      const texts = textsOf(records)
      const characters = texts.reduce((sum, text) => sum + text.length, found.characters)
      const isFirst = found.pages.length === 0
      if (!isFirst && characters > charactersPerBlock || !found.vocabulary.add(tokensOfTexts(texts))) {
        // A page that is more than a block by itself is scanned.
        if (isFirst) continue
        return { ...found, isFull: true }
      }
      found.characters = characters
      found.pages.push(page.number)
      found.messages += page.messages
      if ((yield* Clock.currentTimeMillis) >= until) return found
      yield* Effect.yieldNow
    }
  }
  return found
})

/** Stores the vocabulary of pages, in the transaction that is open. */
const addBlock = Effect.fnUntraced(function*<E, R>(
  account: ArchivedAccount,
  { messages, pages, vocabulary }: ReadPages,
  seal: (
    numbers: { readonly blockId: bigint; readonly epochId: bigint },
    vocabulary: Vocabulary
  ) => Effect.Effect<{ readonly epochId: bigint; readonly sealed: Uint8Array }, E, R>
) {
  const blocks = yield* SearchBlocks
  const numbers = yield* blocks.numbers
  const sealed = yield* seal(numbers, vocabulary.finish(messages))
  const added = yield* blocks.add(account, { blockId: numbers.blockId, fold: foldVersion, pages, ...sealed })
  if (!added) return yield* new PagesTaken()
})

/** Remembers a page that the writer has made, for its next vocabulary: one of deletions alone has no words. */
export const notePage = Effect.fnUntraced(
  function*({ made }: EpochWriter, number: bigint, { kind, lastAt: newest, sentDay }: NewPage) {
    if (kind !== "messages" && sentDay === null) return
    const lastAt = sentDay === null ? newest.getTime() / 1000 : endOfDay(sentDay)
    const group = `${kind} ${quarterOf(lastAt)}`
    made.set(number, { number, group, lastAt, madeAt: yield* Clock.currentTimeMillis })
  }
)

const newestFirst = (pages: ReadonlyArray<MadePage>): ReadonlyArray<bigint> =>
  pages.toSorted((one, other) => other.lastAt - one.lastAt).map(({ number }) => number)

/** The next pages of the writer for a block: as many as one holds, or enough for one that were all made before. */
const nextPages = ({ made }: EpochWriter, before: number): ReadonlyArray<bigint> => {
  const groups = new Map<string, { readonly pages: Array<MadePage>; readonly since: number }>()
  for (const page of made.values()) {
    const known = groups.get(page.group) ?? { pages: [], since: page.madeAt }
    groups.set(page.group, known)
    known.pages.push(page)
    if (known.pages.length === pagesPerBlock) return newestFirst(known.pages)
  }
  const due = [...groups.values()].find(({ pages, since }) => since <= before && pages.length >= fewestPagesOfBlock)
  return newestFirst(due?.pages ?? [])
}

/**
 * Makes vocabularies of the pages that the writer has made: of as many as one holds, and of fewer once the first of them
 * has waited. One of many pages is smaller than several, and a search opens fewer.
 */
export const indexPages = Effect.fnUntraced(function*(writer: EpochWriter, which: "due" | "all") {
  const { account, made } = writer
  const before = which === "all" ? Infinity : (yield* Clock.currentTimeMillis) - Duration.toMillis(longestWait)
  const db = yield* Db
  const open = ({ chatId, day, kind, sealed }: LoosePage): Effect.Effect<Records | null> =>
    Effect.orElseSucceed(
      Effect.map(writer.reopen<FrameKind & typeof kind>({ chatId, day, kind }, sealed), Option.getOrNull),
      () => null
    )
  for (let next = nextPages(writer, before); next.length > 0; next = nextPages(writer, before)) {
    const found = yield* readPages(account, next, open, Infinity)
    // Pages beyond a full block wait for the next one; what is not there, or does not open, is left to readers.
    for (const number of found.isFull ? found.pages : next) made.delete(number)
    if (found.pages.length === 0) continue
    const block = addBlock(account, found, ({ blockId }, vocabulary) => writer.sealWords(blockId, vocabulary))
    yield* db.transaction(account.organizationId, Effect.andThen(writer.fence, block)).pipe(
      Effect.catchTag("PagesTaken", () => Effect.void)
    )
  }
})

type OpenArchive = OpenedKeys & Pick<Unlocked, "isReplaced" | "key">

/** Makes a vocabulary of some of the pages, under an epoch of its own that nothing else is sealed under. */
const indexGroup = Effect.fnUntraced(
  function*(account: ArchivedAccount, archive: OpenArchive, group: LoosePages, until: number) {
    const db = yield* Db
    const epochs = yield* Epochs
    const open = openAccount(account, archive)
    const openPage = (page: LoosePage) =>
      Effect.map(openEach(open, page.kind, [page]), ([records = null]): Records | null => records)
    const found = yield* readPages(account, group.pages, openPage, until)
    if (found.pages.length === 0) return false
    const now = new Date(yield* Clock.currentTimeMillis)
    const block = addBlock(account, found, ({ blockId, epochId }, vocabulary) =>
      Effect.gen(function*() {
        const ref = { ...account, epochId, keyId: archive.key.keyId }
        const { key, sealedKey } = yield* newEpoch(ref, archive.key.publicKey)
        if (!(yield* epochs.addClosed(ref, sealedKey, now))) return yield* new PagesTaken()
        return { epochId, sealed: yield* Effect.ensuring(sealVocabulary(key, blockId, vocabulary), eraseEpochKey(key)) }
      }))
    yield* db.transaction(account.organizationId, block)
    return true
  }
)

/** Makes one vocabulary, where an account has enough pages without one, for 50 ms of reading. */
export const indexForReaders = Effect.fnUntraced(function*(accountIds: ReadonlyArray<AccountId>, archive: OpenArchive) {
  // The vocabulary would be sealed to a key that does not open its pages.
  if (archive.isReplaced) return
  const { organizationId } = archive.key
  const db = yield* Db
  const blocks = yield* SearchBlocks
  const groups = yield* db.read(
    organizationId,
    blocks.due(organizationId, accountIds, fewestPagesOfBlock, pagesPerBlock)
  )
  const until = (yield* Clock.currentTimeMillis) + readerMillis
  for (const group of groups) {
    if (yield* indexGroup({ organizationId, accountId: group.accountId }, archive, group, until)) return
  }
})
