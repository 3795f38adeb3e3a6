/** Hits of a search of the archive, and their order: newest first. */
import type { AccountId } from "../accounts/Account.ts"
import type { EditRecord, MessageRecord } from "./Records.ts"
import type { FieldMatch } from "./SearchWords.ts"

/** A word in a field of a revision: of the message as it was first seen, or of an edit. */
export interface HitMatch extends FieldMatch {
  readonly edit: EditRecord | null
}

/** A message that matches. `alsoIn` are the other accounts that have the same message of a supergroup or channel. */
export interface SearchHit {
  readonly accountId: AccountId
  readonly chatId: bigint
  readonly message: MessageRecord
  readonly matches: ReadonlyArray<HitMatch>
  readonly alsoIn: ReadonlyArray<AccountId>
}

/** The place of a message in the order; of copies in several accounts, that of the last. `at` is Unix seconds. */
export interface HitPlace {
  readonly at: number
  readonly chatId: bigint
  readonly messageId: bigint
  readonly accountId: AccountId
}

/**
 * A search goes on after a hit, or with all that was sent at or before a time. What reaches beyond `counted`, in Unix
 * seconds, was counted as searched by the calls before.
 */
export type SearchPosition = (HitPlace | { readonly at: number }) & { readonly counted: number }

const descending = (one: bigint, other: bigint): number => one < other ? 1 : one > other ? -1 : 0

const ascending = (one: string, other: string): number => one < other ? -1 : one > other ? 1 : 0

/** Below 0 where `one` comes first. */
export const comparePlaces = (one: HitPlace, other: HitPlace): number =>
  other.at - one.at || descending(one.chatId, other.chatId) || descending(one.messageId, other.messageId) ||
  ascending(one.accountId, other.accountId)

/** True if the search that goes on from the position has to answer the hit. */
export const isAfter = (position: SearchPosition, place: HitPlace): boolean =>
  "chatId" in position ? comparePlaces(position, place) < 0 : place.at <= position.at
