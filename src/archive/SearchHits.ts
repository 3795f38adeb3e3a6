/** The hits of a search so far: revisions of one message are one hit, and so are copies of it in several accounts. */
import {
  comparePlaces,
  type HitPlace,
  isAfter,
  type SearchHit,
  type SearchPosition
} from "../domain/archive/SearchHit.ts"
import { placesIn, type SearchWord } from "../domain/archive/SearchWords.ts"
import type { FoundMatch } from "./SearchMatches.ts"

/** A message with what matched of it: edits of it, and null for the message as it was first seen. */
interface RevisionHit extends Omit<SearchHit, "matches"> {
  readonly edits: ReadonlyArray<FoundMatch["edit"]>
}

interface FoundHit {
  readonly place: HitPlace
  readonly shared: boolean
  readonly hit: RevisionHit
}

/** A hit, and the place of the last of its copies. */
export interface PlacedHit {
  readonly last: HitPlace
  readonly hit: RevisionHit
}

const byRevision = (one: FoundMatch["edit"], other: FoundMatch["edit"]): number =>
  (one?.seen_at ?? -1) - (other?.seen_at ?? -1)

/** The hit with the places of the words. They are looked for in hits that are answered alone. */
export const withMatches = (words: ReadonlyArray<SearchWord>, { edits, ...hit }: RevisionHit): SearchHit => ({
  ...hit,
  matches: edits.toSorted(byRevision).flatMap((edit) =>
    placesIn(words, edit ?? hit.message).map((match) => ({ ...match, edit }))
  )
})

const isCopy = (one: FoundHit, other: FoundHit): boolean =>
  one.shared && other.shared && one.place.at === other.place.at && one.place.chatId === other.place.chatId &&
  one.place.messageId === other.place.messageId

/** Joins the copies of a message that follow each other. */
const joinCopies = (hits: ReadonlyArray<FoundHit>): ReadonlyArray<PlacedHit> => {
  const joined: Array<PlacedHit> = []
  let before: FoundHit | undefined
  for (const found of hits) {
    const copied = before !== undefined && isCopy(before, found) ? joined.pop() : undefined
    joined.push(
      copied === undefined
        ? { last: found.place, hit: found.hit }
        : { last: found.place, hit: { ...copied.hit, alsoIn: [...copied.hit.alsoIn, found.hit.accountId] } }
    )
    before = found
  }
  return joined
}

export interface SearchHits {
  readonly add: (found: FoundMatch) => void
  readonly size: () => number
  /** The hits that were sent after `frontier`, newest first. */
  readonly since: (frontier: number) => ReadonlyArray<PlacedHit>
}

/** Keeps the hits that come after the position, or all where it is null. */
export const makeSearchHits = (position: SearchPosition | null): SearchHits => {
  const hits = new Map<string, FoundHit>()
  return {
    add: ({ edit, message, page }) => {
      const { accountId, chatId, shared } = page
      const place = { at: message.at, chatId, messageId: message.id, accountId }
      if (position !== null && !isAfter(position, place)) return
      const key = `${accountId}/${chatId}/${message.id}`
      const edits = [...(hits.get(key)?.hit.edits ?? []), edit]
      hits.set(key, { place, shared, hit: { accountId, chatId, message, edits, alsoIn: [] } })
    },
    size: () => hits.size,
    since: (frontier) =>
      joinCopies(
        [...hits.values()].filter(({ place }) => place.at > frontier).sort((one, other) =>
          comparePlaces(one.place, other.place)
        )
      )
  }
}
