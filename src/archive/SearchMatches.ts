/** Opening pages of the archive, and finding what in them matches a search. */
import { Effect } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import type { EditRecord, MessageKind, MessageRecord, RecordOf } from "../domain/archive/Records.ts"
import { matchesRevision, type SearchWord } from "../domain/archive/SearchWords.ts"
import type { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { type SealedSearchPage, type SearchPage, type SearchScope, SearchStore } from "../ports/archive/SearchStore.ts"
import { openFrames } from "./Frames.ts"

/** Opens an epoch of an account. */
export type SearchKeys<R> = (
  accountId: AccountId,
  epochId: bigint
) => Effect.Effect<EpochKey, ArchiveUnreadable | ServiceUnavailable, R>

/** The words of a search, and the part of the archive that it covers. */
export interface SearchCriteria {
  readonly scope: SearchScope
  /** At least one. */
  readonly words: ReadonlyArray<SearchWord>
  readonly fromId: string | null
  readonly kind: MessageKind | null
}

/** A revision that matches: an edit of the message, or null for the message as it was first seen. */
export interface FoundMatch {
  readonly page: SearchPage
  readonly message: MessageRecord
  readonly edit: EditRecord | null
}

/** The matches of a page; `read` counts bytes, those of pages that were read for its edits' messages included. */
export interface PageMatches {
  readonly found: ReadonlyArray<FoundMatch>
  readonly read: number
  readonly unreadable: boolean
}

const isWanted = ({ fromId, kind, scope }: SearchCriteria, { at, from, kind: own }: MessageRecord): boolean =>
  (fromId === null || from?.id === fromId) && (kind === null || own === kind) &&
  (scope.since === null || at >= scope.since) && (scope.until === null || at < scope.until)

const open = <Kind extends SearchPage["kind"], R>(
  keys: SearchKeys<R>,
  kind: Kind,
  { page, sealed }: SealedSearchPage
): Effect.Effect<ReadonlyArray<RecordOf<Kind>> | null, ServiceUnavailable, ArchiveCrypto | R> =>
  openFrames((epochId) => keys(page.accountId, epochId), { chatId: page.chatId, day: page.day, kind }, sealed).pipe(
    Effect.catchTag("ArchiveUnreadable", () => Effect.succeed(null))
  )

/** The message as it was first seen; null where it was never stored or is not readable. */
const messageOf = Effect.fnUntraced(function*<R>(
  keys: SearchKeys<R>,
  scope: SearchScope,
  { accountId, chatId }: SearchPage,
  id: bigint
) {
  const store = yield* SearchStore
  const pages = yield* store.message(scope, accountId, chatId, id)
  for (const page of pages) {
    const records = yield* open(keys, "messages", page)
    const message = records?.find((record) => record.id === id)
    if (message !== undefined) return { message, page: page.page, read: page.sealed.length }
  }
  return null
})

const matchMessages = (
  criteria: SearchCriteria,
  page: SearchPage,
  records: ReadonlyArray<MessageRecord>
): ReadonlyArray<FoundMatch> =>
  records.flatMap((message) =>
    isWanted(criteria, message) && matchesRevision(criteria.words, message) ? [{ page, message, edit: null }] : []
  )

const matchEdit = Effect.fnUntraced(function*<R>(
  keys: SearchKeys<R>,
  criteria: SearchCriteria,
  page: SearchPage,
  edit: EditRecord
) {
  if (!matchesRevision(criteria.words, edit)) return { found: [], read: 0 }
  const original = yield* messageOf(keys, criteria.scope, page, BigInt(edit.id))
  if (original === null) return { found: [], read: 0 }
  const { message, page: own, read } = original
  return { found: isWanted(criteria, message) ? [{ page: own, message, edit }] : [], read }
})

/** The matches in a page. An edit is found with its message, under the time at which that was sent. */
export const matchPage: <R>(
  keys: SearchKeys<R>,
  criteria: SearchCriteria,
  sealed: SealedSearchPage
) => Effect.Effect<PageMatches, ServiceUnavailable, ArchiveCrypto | SearchStore | R> = Effect.fnUntraced(
  function*<R>(keys: SearchKeys<R>, criteria: SearchCriteria, sealed: SealedSearchPage) {
    const { page } = sealed
    const size = sealed.sealed.length
    if (page.kind === "messages") {
      const records = yield* open(keys, "messages", sealed)
      return { found: matchMessages(criteria, page, records ?? []), read: size, unreadable: records === null }
    }
    const records = yield* open(keys, "changes", sealed)
    const edits = (records ?? []).flatMap((record) => record.change === "edited" ? [record] : [])
    const matched = yield* Effect.forEach(edits, (edit) => matchEdit(keys, criteria, page, edit))
    const read = matched.reduce((sum, each) => sum + each.read, size)
    return { found: matched.flatMap(({ found }) => found), read, unreadable: records === null }
  }
)
