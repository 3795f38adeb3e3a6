/** Searches of the archive, one after the other; the last one can go on. */
import { Effect } from "effect"
import { makeKeptVocabularies } from "../../archive/KeptVocabularies.ts"
import { type KeptVocabularies, search, searchBudget, type SearchRequest } from "../../archive/Search.ts"
import { answerHits } from "../../archive/SearchAnswer.ts"
import { AccountId } from "../../domain/accounts/Account.ts"
import type { SearchPosition } from "../../domain/archive/SearchHit.ts"
import type { FoundMessage } from "../../domain/archive/SearchResult.ts"
import { searchWords } from "../../domain/archive/SearchWords.ts"
import { sealedBlocksNamed } from "../../domain/Limits.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { SearchAsk } from "../ViewerCalls.ts"
import { makeChatFinder } from "./Reading.ts"
import type { Session } from "./WorkerSession.ts"

const hitsAtOnce = 30
/** Each list is a request: as many vocabularies are read at a time as one request names. */
const budget = { ...searchBudget, millis: 4000, vocabularies: sealedBlocksNamed, ahead: true }
/** Chats of hits that are asked for at the same time. */
const chatsAtOnce = 4

const secondsOf = (day: string): number => new Date(`${day}T00:00:00Z`).getTime() / 1000

const daySeconds = 24 * 60 * 60

const requestOf = (
  { organizationId }: Session,
  { accountIds, chatId, fromId, kind, query, since, until }: SearchAsk,
  kept: KeptVocabularies
): SearchRequest => ({
  scope: {
    organizationId,
    accountIds: accountIds.map((id) => AccountId.make(id)),
    chatIds: chatId === null ? null : [BigInt(chatId)],
    since: since === null ? null : secondsOf(since),
    until: until === null ? null : secondsOf(until) + daySeconds
  },
  words: searchWords(query),
  fromId,
  kind,
  limit: hitsAtOnce,
  position: null,
  kept
})

export const makeSearches = (session: Session) => {
  const chatOf = makeChatFinder(session)
  const kept = makeKeptVocabularies()
  let last: SearchRequest | null = null
  const goOn = (request: SearchRequest, position: SearchPosition | null) => {
    last = position === null ? null : { ...request, position }
  }
  return Effect.fnUntraced(function*(asked: SearchAsk | null) {
    const request = asked === null ? last : requestOf(session, asked, kept)
    if (request === null) return { hits: [], hasMore: false, complete: true, searched: 0, unreadable: 0 }
    if (request.words.length === 0) {
      return yield* new RemoteRefusal({ code: "parameter_invalid", message: "There is no word in it to search for." })
    }
    const result = yield* search(session.keys, request, budget)
    const answered = yield* answerHits(session.open, result.hits)
    const placeOf = ({ account_id, chat_id }: FoundMessage) => ({ accountId: account_id, chatId: chat_id })
    const nameOf = ({ account_id, chat_id }: FoundMessage) => `${account_id} ${chat_id}`
    const places = new Map(answered.data.map((message) => [nameOf(message), placeOf(message)]))
    const chats = new Map(
      yield* Effect.forEach(places, ([name, place]) => Effect.map(chatOf(place), (chat) => [name, chat] as const), {
        concurrency: chatsAtOnce
      })
    )
    const hits = answered.data.map((message) => ({ message, chat: chats.get(nameOf(message)) ?? null }))
    goOn(request, result.position)
    return {
      hits,
      hasMore: result.position !== null,
      complete: result.complete,
      searched: result.searched,
      unreadable: result.unreadable + answered.unreadable
    }
  })
}
