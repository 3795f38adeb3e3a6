/** The results of a search, as messages are read: with their newest texts, and the revisions that match. */
import { Effect } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import { frameBytesAtOnce } from "../domain/archive/PageRules.ts"
import type { HitMatch, SearchHit } from "../domain/archive/SearchHit.ts"
import type { FoundMessage } from "../domain/archive/SearchResult.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import type { Unlocked } from "../ports/archive/ArchiveUnlock.ts"
import { epochKeyOf, type OpenAccount, openAccount } from "./OpenedFrames.ts"
import { completeMessages } from "./Reader.ts"

/** Accounts whose messages are read at a time. */
const accountsAtOnce = 8

/** The opened accounts of a search, each made when it is needed. */
export const openAccounts = (organizationId: OrganizationId, archive: Pick<Unlocked, "epochKey">) => {
  const opened = new Map<AccountId, OpenAccount>()
  const open = (accountId: AccountId): OpenAccount => {
    const known = opened.get(accountId)
    if (known !== undefined) return known
    const account = openAccount({ organizationId, accountId }, archive)
    opened.set(accountId, account)
    return account
  }
  return { open, keys: (accountId: AccountId, epochId: bigint) => epochKeyOf(open(accountId), epochId) }
}

/**
 * The place of the edit among those of the message; the message as it was first seen is revision 0. Edits that are newer
 * than all that are listed have the place after these.
 */
const revisionOf = (edit: HitMatch["edit"], editDates: ReadonlyArray<number>): number =>
  edit === null ? 0 : editDates.filter((date) => date < (edit.edited_at ?? 0)).length + 1

const matchesOf = ({ matches }: SearchHit, editDates: ReadonlyArray<number>): FoundMessage["matches"] => {
  const edits = new Set(matches.map(({ edit }) => edit))
  const revisions = new Map([...edits].map((edit) => [edit, revisionOf(edit, editDates)]))
  const found = matches.map(({ edit, field, length, start }) => ({
    field,
    revision: revisions.get(edit) ?? 0,
    start,
    length
  }))
  // Edits of one second are one revision, and so are those beyond the listed ones.
  const distinct = new Map(found.map((match) => [JSON.stringify(match), match]))
  return [...distinct.values()].sort((one, other) => one.revision - other.revision)
}

/** The messages of the hits, in their order; `unreadable` counts those whose newest edit does not open. */
export const answerHits = Effect.fnUntraced(function*(
  open: (accountId: AccountId) => OpenAccount,
  hits: ReadonlyArray<SearchHit>
) {
  const accounts = Map.groupBy(hits, ({ accountId }) => accountId)
  const read = yield* Effect.forEach(accounts, ([accountId, found]) =>
    Effect.map(
      completeMessages(
        open(accountId),
        found.map(({ chatId, message }) => ({ chatId, record: message })),
        frameBytesAtOnce / accountsAtOnce
      ),
      (messages) => messages.map((each, place) => [found[place], each] as const)
    ), { concurrency: accountsAtOnce })
  const completed = new Map(read.flat())
  let unreadable = 0
  const data = hits.flatMap((hit): ReadonlyArray<FoundMessage> => {
    const known = completed.get(hit)
    if (known === undefined) return []
    if (known.unreadable) unreadable += 1
    return [{ ...known.message, matches: matchesOf(hit, known.editDates), also_in: hit.alsoIn }]
  })
  return { data, unreadable }
})
