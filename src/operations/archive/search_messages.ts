import { Effect, Schema } from "effect"
import { indexForReaders } from "../../archive/PageIndexing.ts"
import { search, type SearchBudget } from "../../archive/Search.ts"
import { answerHits, openAccounts } from "../../archive/SearchAnswer.ts"
import { byCaller, record } from "../../changes/Record.ts"
import { AccountId } from "../../domain/accounts/Account.ts"
import { hex, utf8 } from "../../domain/archive/Bytes.ts"
import { MemberId } from "../../domain/archive/Chat.ts"
import { PlatformId } from "../../domain/archive/PlatformId.ts"
import { MessageKind } from "../../domain/archive/Records.ts"
import { readCursor, SearchCursor, writeCursor } from "../../domain/archive/SearchCursor.ts"
import type { SearchPosition } from "../../domain/archive/SearchHit.ts"
import { type FoundMessage, SearchLimit, SearchResult } from "../../domain/archive/SearchResult.ts"
import { searchWords } from "../../domain/archive/SearchWords.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { DateTime, Line } from "../../domain/JsonShapes.ts"
import { defaultSearchLimit } from "../../domain/Limits.ts"
import { archiveReaders, type Caller, type OrganizationId } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveChats } from "../../ports/archive/ArchiveChats.ts"
import { ArchiveCrypto } from "../../ports/archive/ArchiveCrypto.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import type { OpenedKeys, Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import type { PageName } from "../../ports/archive/SearchStore.ts"
import { SearchTurns } from "../../ports/archive/SearchTurns.ts"
import { Db } from "../../ports/Db.ts"
import * as samples from "./archive.samples.ts"

/** Accounts and chats that a search can name. */
const mostNamed = 100

/** Bytes of a query's hash that its cursors carry. */
const hashSize = 16

const body = {
  query: Line(200).annotateKey({
    description:
      "Words that all occur in a message, in any case, also inside longer words; \"several words\" are one with its spaces."
  }),
  account_ids: Schema.optionalKey(
    Schema.Array(AccountId).check(Schema.isMinLength(1), Schema.isMaxLength(mostNamed))
  ).annotateKey({ description: "Only these accounts, at most 100; from list_accounts." }),
  chat_ids: Schema.optionalKey(Schema.Array(PlatformId).check(Schema.isMinLength(1), Schema.isMaxLength(mostNamed)))
    .annotateKey({ description: "Only these chats of the one account that account_ids names, at most 100." }),
  from_id: Schema.optionalKey(MemberId).annotateKey({ description: "Only messages of this sender." }),
  since: Schema.optionalKey(DateTime).annotateKey({
    description: "Only messages sent at or after this time, such as 2026-01-01T00:00:00Z."
  }),
  until: Schema.optionalKey(DateTime).annotateKey({
    description: "Only messages sent before this time, such as 2026-01-31T12:00:00Z."
  }),
  kind: Schema.optionalKey(MessageKind).annotateKey({ description: "Only messages of this kind." }),
  limit: Schema.optionalKey(SearchLimit).annotateKey({ description: "The most messages on a page." }),
  cursor: Schema.optionalKey(SearchCursor).annotateKey({
    description: "The cursor of the page before, with all else as it was."
  })
}

type Input = Schema.Struct.Type<typeof body>

/** Times are kept in whole seconds. */
const secondsOf = (at: Date | undefined): number | null => at === undefined ? null : Math.ceil(at.getTime() / 1000)

const distinct = <A extends string>(ids: ReadonlyArray<A> | undefined): ReadonlyArray<A> | null =>
  ids === undefined ? null : [...new Set(ids)].sort()

/** The hash of everything that decides what a search finds. */
const hashOf = Effect.fnUntraced(function*(input: Input, words: ReadonlyArray<string>, organizationId: string) {
  const crypto = yield* ArchiveCrypto
  const { account_ids, chat_ids, from_id, kind, since, until } = input
  const parts = [
    "search-query/1",
    organizationId,
    words,
    distinct(account_ids),
    distinct(chat_ids),
    from_id ?? null,
    secondsOf(since),
    secondsOf(until),
    kind ?? null
  ]
  return hex((yield* crypto.sha256(utf8(JSON.stringify(parts)))).subarray(0, hashSize))
})

/** The chats to search; fails where the account has not all of them. */
const chatsOf = Effect.fnUntraced(
  function*(organizationId: OrganizationId, [accountId]: ReadonlyArray<AccountId>, named: Input["chat_ids"]) {
    if (named === undefined || accountId === undefined) return null
    const db = yield* Db
    const chats = yield* ArchiveChats
    const ids = [...new Set(named)].map(BigInt)
    const known = yield* db.read(organizationId, chats.known({ organizationId, accountId }, ids))
    return known < ids.length ? yield* new ResourceMissing({ param: "chat_ids" }) : ids
  }
)

/** Journals the search without its words, and counts what it answers as read. */
const journalSearch = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  { account_ids, chat_ids, cursor }: Input,
  found: ReadonlyArray<FoundMessage>
) {
  const db = yield* Db
  const reads = yield* ArchiveReads
  const { organizationId } = caller
  const details = {
    ...(account_ids === undefined ? {} : { accounts: account_ids.length }),
    ...(chat_ids === undefined ? {} : { chats: chat_ids.length }),
    messages: found.length,
    continued: cursor !== undefined
  }
  yield* db.transaction(organizationId, record(byCaller(caller), "archive.searched", { id: organizationId }, details))
  const counts = new Map<AccountId, number>()
  for (const { account_id } of found) counts.set(account_id, (counts.get(account_id) ?? 0) + 1)
  yield* reads.note(caller, Array.from(counts, ([accountId, messages]) => ({ accountId, messages, searches: 1 })))
})

const invalid = (param: string, message: string) => new ParameterInvalid({ param, message: `${param}: ${message}.` })

/** A search that was found good. */
interface ParsedSearch {
  readonly input: Input
  readonly organizationId: OrganizationId
  readonly words: ReturnType<typeof searchWords>
  /** The hash that its cursors carry. */
  readonly query: string
  readonly position: SearchPosition | null
}

/** Fails where the request is none. */
export const parseSearch = Effect.fnUntraced(function*(input: Input, organizationId: OrganizationId) {
  const { chat_ids, cursor } = input
  const words = searchWords(input.query)
  if (words.length === 0) return yield* invalid("query", "there is no word in it")
  if (chat_ids !== undefined && distinct(input.account_ids)?.length !== 1) {
    return yield* invalid("chat_ids", "they need the one account that they are in as account_ids")
  }
  const query = yield* hashOf(input, words.map(({ folded }) => folded), organizationId)
  const position = cursor === undefined ? null : readCursor(cursor, query)
  if (cursor !== undefined && position === null) {
    return yield* invalid("cursor", "there is no such page, or it is another search's")
  }
  return { input, organizationId, words, query, position } satisfies ParsedSearch
})

/** The answer by an archive that is open, of these of its accounts. */
export const answerSearch = Effect.fnUntraced(function*(
  { input, organizationId, position, query, words }: ParsedSearch,
  accountIds: ReadonlyArray<AccountId>,
  archive: OpenedKeys,
  budget?: SearchBudget
) {
  const { chat_ids, from_id, kind, limit = defaultSearchLimit } = input
  const chatIds = yield* chatsOf(organizationId, accountIds, chat_ids)
  const accounts = openAccounts(organizationId, archive)
  const scope = { organizationId, accountIds, chatIds, since: secondsOf(input.since), until: secondsOf(input.until) }
  const missed = ({ accountId, number }: PageName) => archive.missed?.({ organizationId, accountId }, number)
  const request = { scope, words, fromId: from_id ?? null, kind: kind ?? null, limit, position, missed }
  const turns = yield* SearchTurns
  const { answered, result } = yield* turns.run(
    organizationId,
    Effect.gen(function*() {
      const result = yield* search(accounts.keys, request, budget)
      return { result, answered: yield* answerHits(accounts.open, result.hits) }
    })
  )
  return {
    object: "search_result" as const,
    data: answered.data,
    has_more: result.position !== null,
    cursor: result.position === null ? null : writeCursor(result.position, query),
    complete: result.complete,
    searched: result.searched,
    unreadable: result.unreadable + answered.unreadable
  }
})

/** The accounts to search; fails where the caller cannot access one of those that are named. */
const accountsOf = Effect.fnUntraced(function*(caller: Caller["Service"], named: Input["account_ids"]) {
  const db = yield* Db
  const accounts = yield* Accounts
  const reached = new Set(yield* db.read(caller.organizationId, accounts.archived(caller, named ?? null)))
  if (named?.some((id) => !reached.has(id)) === true) return yield* new ResourceMissing({ param: "account_ids" })
  return [...reached]
})

const runSearch = Effect.fnUntraced(function*(input: Input, caller: Caller["Service"], archive: Unlocked) {
  const parsed = yield* parseSearch(input, caller.organizationId)
  const accountIds = yield* accountsOf(caller, input.account_ids)
  const answer = yield* answerSearch(parsed, accountIds, archive)
  yield* journalSearch(caller, input, answer.data)
  yield* archive.afterwards(Effect.ignoreCause(indexForReaders(accountIds, archive)))
  return answer
})

export const searchMessages = Operation.unlocked(
  "search_messages",
  {
    summary: "Search archived messages for words, newest first.",
    description:
      "A message matches when one of its revisions has every word, in its text, caption, transcript, file names, poll or contact; deleted messages and older revisions are found too. A call takes two seconds at most: complete is false where they were over, and cursor goes on. Two searches of an organization run at a time; a third gets service_unavailable.",
    method: "POST",
    path: "/v1/archive/search",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    body,
    failures: [ResourceMissing],
    success: SearchResult,
    sample: samples.searchMessages
  },
  (input, { archive, caller }) => runSearch(input, caller, archive)
)
