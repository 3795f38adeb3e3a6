/** Opens what a search reads, and looks through it, where it is called: others have their turn after each piece. */
import { Effect, Semaphore } from "effect"
import type { EditRecord, MessageRecord, RecordOf } from "../domain/archive/Records.ts"
import { matchesRevision } from "../domain/archive/SearchWords.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { candidatePages, mayMatch } from "../domain/archive/Vocabulary.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import {
  type MatchCriteria,
  type OpenablePage,
  type PageMatches,
  SearchMatcher
} from "../ports/archive/SearchMatcher.ts"
import type { SearchBlock, SearchPage } from "../ports/archive/SearchStore.ts"
import { openFrames } from "./Frames.ts"
import { type OpenVocabulary, openVocabulary } from "./Vocabularies.ts"

type BlockName = Pick<SearchBlock, "accountId" | "blockId">

/** Opened vocabularies that a reader keeps from one search to the next. */
export interface KeptVocabularies {
  readonly get: (block: BlockName) => OpenVocabulary | undefined
  readonly set: (block: BlockName, opened: OpenVocabulary) => void
}

/** True where the message has what is asked for besides the words. */
export const isWanted = (
  { fromId, kind, since, until }: Omit<MatchCriteria, "words">,
  { at, from, kind: own }: MessageRecord
): boolean =>
  (fromId === null || from?.id === fromId) && (kind === null || own === kind) &&
  (since === null || at >= since) && (until === null || at < until)

/** The records of a page of the kind. */
export const openPage = <Kind extends SearchPage["kind"]>(kind: Kind, { keys, page, sealed }: OpenablePage) => {
  const known = new Map(keys.map((key) => [key.ref.epochId, key]))
  const keyOf = (epochId: bigint) => {
    const key = known.get(epochId)
    return key === undefined ? Effect.fail(new ArchiveUnreadable({ part: "epoch" })) : Effect.succeed(key)
  }
  return openFrames(keyOf, { chatId: page.chatId, day: page.day, kind }, sealed)
}

const isEdit = (record: RecordOf<"changes">): record is EditRecord => record.change === "edited"

const matchPage = Effect.fnUntraced(function*(criteria: MatchCriteria, page: OpenablePage) {
  const { words } = criteria
  if (page.page.kind === "messages") {
    const records = yield* openPage("messages", page)
    const messages = records.filter((record) => isWanted(criteria, record) && matchesRevision(words, record))
    return { messages, edits: [] } satisfies PageMatches
  }
  const records = yield* openPage("changes", page)
  const edits = records.filter(isEdit).filter((edit) => matchesRevision(words, edit))
  return { messages: [], edits } satisfies PageMatches
}, Effect.catchTag("ArchiveUnreadable", () => Effect.succeed(null)))

/** One that opens no vocabulary a second time that is kept. */
export const makeInlineMatcher = Effect.fnUntraced(function*(kept?: KeptVocabularies) {
  const crypto = yield* ArchiveCrypto
  // While one vocabulary is looked through, others are opened.
  const turn = Semaphore.makeUnsafe(1)
  return SearchMatcher.of({
    block: Effect.fnUntraced(
      function*(words, block) {
        const known = kept?.get(block)
        const vocabulary = known ?? (yield* openVocabulary(block.key, block.blockId, block.sealed))
        if (known === undefined) kept?.set(block, vocabulary)
        const postings = mayMatch(vocabulary.words, words) ? yield* vocabulary.postings : null
        const look = Effect.sync(() =>
          postings === null ? [] : candidatePages(vocabulary.words, postings, block.pages, words)
        )
        const positions = yield* turn.withPermits(1)(Effect.tap(look, Effect.yieldNow))
        if (positions === null) return null
        return { messages: vocabulary.messages, positions, read: known === undefined ? block.sealed.length : 0 }
      },
      Effect.catchTag("ArchiveUnreadable", () => Effect.succeed(null)),
      Effect.provideService(ArchiveCrypto, crypto)
    ),
    pages: (criteria, pages) =>
      Effect.forEach(pages, (page) => Effect.tap(matchPage(criteria, page), Effect.yieldNow)).pipe(
        Effect.provideService(ArchiveCrypto, crypto)
      )
  })
})
