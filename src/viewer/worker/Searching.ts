/** Searches of the archive, one after the other; the last one can go on. */
import { Effect } from "effect"
import { makeInlineMatcher } from "../../archive/InlineMatcher.ts"
import { makeKeptVocabularies } from "../../archive/KeptVocabularies.ts"
import { remoteBudget, search, type SearchRequest } from "../../archive/Search.ts"
import { answerHits } from "../../archive/SearchAnswer.ts"
import { AccountId } from "../../domain/accounts/Account.ts"
import type { SearchPosition } from "../../domain/archive/SearchHit.ts"
import { searchWords } from "../../domain/archive/SearchWords.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import { SearchMatcher } from "../../ports/archive/SearchMatcher.ts"
import type { SearchAsk } from "../ViewerCalls.ts"
import type { makeChatFinder } from "./Reading.ts"
import type { Session } from "./WorkerSession.ts"

const hitsAtOnce = 30
const budget = { ...remoteBudget, millis: 4000 }

const secondsOf = (day: string): number => new Date(`${day}T00:00:00Z`).getTime() / 1000

const daySeconds = 24 * 60 * 60

const requestOf = (
  { organizationId }: Session,
  { accountIds, chatId, fromId, kind, query, since, until }: SearchAsk
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
  position: null
})

export const makeSearches = (session: Session, chatsOf: ReturnType<typeof makeChatFinder>) => {
  const kept = makeKeptVocabularies()
  let last: SearchRequest | null = null
  const goOn = (request: SearchRequest, position: SearchPosition | null) => {
    last = position === null ? null : { ...request, position }
  }
  return Effect.fnUntraced(function*(asked: SearchAsk | null) {
    const request = asked === null ? last : requestOf(session, asked)
    if (request === null) return { hits: [], hasMore: false, complete: true, searched: 0, unreadable: 0 }
    if (request.words.length === 0) {
      return yield* new RemoteRefusal({ code: "parameter_invalid", message: "There is no word in it to search for." })
    }
    const matcher = yield* makeInlineMatcher(kept)
    const result = yield* Effect.provideService(search(session.keys, request, budget), SearchMatcher, matcher)
    const answered = yield* answerHits(session.open, result.hits)
    const chats = yield* chatsOf(
      answered.data.map(({ account_id, chat_id }) => ({ accountId: account_id, chatId: chat_id }))
    )
    const hits = answered.data.map((message, place) => ({ message, chat: chats[place] ?? null }))
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
