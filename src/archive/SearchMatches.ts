/** The matches of a search in pages of the archive: messages, and edits with the messages that they are of. */
import { Effect } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import type { EditRecord, MessageRecord } from "../domain/archive/Records.ts"
import type { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { type MatchCriteria, type OpenablePage, SearchMatcher } from "../ports/archive/SearchMatcher.ts"
import { type SealedSearchPage, type SearchPage, type SearchScope, SearchStore } from "../ports/archive/SearchStore.ts"
import { epochsOf } from "./Frames.ts"
import { isWanted, openPage } from "./InlineMatcher.ts"

/** The services that a search needs. */
export type SearchServices = ArchiveCrypto | SearchMatcher | SearchStore

/** Opens an epoch of an account. */
export type SearchKeys<R> = (
  accountId: AccountId,
  epochId: bigint
) => Effect.Effect<EpochKey, ArchiveUnreadable | ServiceUnavailable, R>

/** The words of a search, and the part of the archive that it covers. */
export interface SearchCriteria extends Omit<MatchCriteria, "since" | "until"> {
  readonly scope: SearchScope
}

/** A revision that matches: an edit of the message, or null for the message as it was first seen. */
export interface FoundMatch {
  readonly page: SearchPage
  readonly message: MessageRecord
  readonly edit: EditRecord | null
}

/** The matches of a page; `readBeside` counts the bytes of other pages, those of its edits' messages. */
interface FoundInPage {
  readonly page: SearchPage
  readonly found: ReadonlyArray<FoundMatch>
  readonly readBeside: number
  readonly unreadable: boolean
}

/** The page with the keys of its frames; null where one of these does not open. */
const withKeys = <R>(
  keys: SearchKeys<R>,
  { page, sealed }: SealedSearchPage
): Effect.Effect<OpenablePage | null, ServiceUnavailable, R> =>
  epochsOf(sealed).pipe(
    Effect.flatMap((epochs) => Effect.forEach(epochs, (epochId) => keys(page.accountId, epochId))),
    Effect.map((opened) => ({ page, sealed, keys: opened })),
    Effect.catchTag("ArchiveUnreadable", () => Effect.succeed(null))
  )

/** The edits of a page that match, with their messages, which are read together; others have their turn between pages. */
const matchEdits = Effect.fnUntraced(function*<R>(
  keys: SearchKeys<R>,
  { scope, ...criteria }: SearchCriteria,
  { accountId, chatId }: SearchPage,
  edits: ReadonlyArray<EditRecord>
) {
  if (edits.length === 0) return { found: [], read: 0 }
  const byMessage = Map.groupBy(edits, ({ id }) => BigInt(id))
  const store = yield* SearchStore
  const found: Array<FoundMatch> = []
  let read = 0
  for (const sealed of yield* store.messages(scope, accountId, chatId, [...byMessage.keys()])) {
    read += sealed.sealed.length
    const page = yield* withKeys(keys, sealed)
    const records = page === null ? [] : yield* Effect.orElseSucceed(openPage("messages", page), () => [])
    for (const message of records) {
      const edited = byMessage.get(message.id)
      if (edited === undefined) continue
      // While a tail is closed, a message may be in two pages.
      byMessage.delete(message.id)
      if (!isWanted({ ...criteria, ...scope }, message)) continue
      for (const edit of edited) found.push({ page: sealed.page, message, edit })
    }
    yield* Effect.yieldNow
  }
  return { found, read }
})

/** The matches in each of the pages. An edit is found with its message, under the time at which that was sent. */
export const matchPages: <R>(
  keys: SearchKeys<R>,
  criteria: SearchCriteria,
  sealed: ReadonlyArray<SealedSearchPage>
) => Effect.Effect<
  ReadonlyArray<FoundInPage>,
  ServiceUnavailable,
  SearchServices | R
> = Effect.fnUntraced(function*<R>(
  keys: SearchKeys<R>,
  criteria: SearchCriteria,
  sealed: ReadonlyArray<SealedSearchPage>
) {
  const { fromId, kind, scope: { since, until }, words } = criteria
  const matcher = yield* SearchMatcher
  const opened = yield* Effect.forEach(sealed, (page) => withKeys(keys, page))
  const openable = opened.filter((page) => page !== null)
  const matches = yield* matcher.pages({ words, fromId, kind, since, until }, openable)
  const matchOf = new Map(openable.map(({ page }, at) => [page, matches[at]]))
  return yield* Effect.forEach(
    sealed,
    Effect.fnUntraced(function*({ page }) {
      const match = matchOf.get(page) ?? null
      if (match === null) return { page, found: [], readBeside: 0, unreadable: true }
      const messages = match.messages.map((message) => ({ page, message, edit: null }))
      const edited = yield* matchEdits(keys, criteria, page, match.edits)
      return { page, found: [...messages, ...edited.found], readBeside: edited.read, unreadable: false }
    })
  )
})
