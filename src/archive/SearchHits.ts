/** The hits of a search so far: revisions of one message are one hit, and so are copies of it in several accounts. */
import { Effect } from "effect"
import type { MessageRecord } from "../domain/archive/Records.ts"
import { byAge } from "../domain/archive/Revisions.ts"
import {
  comparePlaces,
  type HitPlace,
  isAfter,
  type SearchHit,
  type SearchPosition
} from "../domain/archive/SearchHit.ts"
import { placesIn, type SearchWord } from "../domain/archive/SearchWords.ts"
import { searchRevisionsLimit } from "../domain/Limits.ts"
import type { FoundMatch } from "./SearchMatches.ts"

/** An edit, or null for the message as it was first seen. */
type Revision = FoundMatch["edit"]

/** A message with the newest of its revisions that match, from the oldest to the newest. */
interface RevisionHit extends Omit<SearchHit, "matches"> {
  readonly revisions: Array<Revision>
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

/** Below 0 where `one` is the older revision of the message. */
const compareRevisions = (message: MessageRecord, one: Revision, other: Revision): number => {
  const first = { edited_at: message.details.edited_at ?? 0, seen_at: -1 }
  return byAge(one ?? first, other ?? first)
}

/** Adds a revision once: a row of the tail that becomes a page meanwhile is read twice. Beyond the limit the oldest goes. */
const addRevision = ({ message, revisions }: RevisionHit, added: Revision): void => {
  let at = revisions.length
  for (; at > 0; at--) {
    const known = revisions[at - 1] ?? null
    const order = compareRevisions(message, known, added)
    if (order === 0 && JSON.stringify(known) === JSON.stringify(added)) return
    if (order < 0) break
  }
  revisions.splice(at, 0, added)
  if (revisions.length > searchRevisionsLimit) revisions.shift()
}

/** The hit with the places of the words, which are looked for in hits that are answered alone. */
export const withMatches = (words: ReadonlyArray<SearchWord>, { revisions, ...hit }: RevisionHit) =>
  Effect.forEach(revisions, (edit) =>
    Effect.map(
      Effect.yieldNow,
      () => placesIn(words, edit ?? hit.message).map((match) => ({ ...match, edit }))
    )).pipe(Effect.map((matches): SearchHit => ({ ...hit, matches: matches.flat() })))

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
      const known = hits.get(key)
      const hit = known?.hit ?? { accountId, chatId, message, revisions: [], alsoIn: [] }
      addRevision(hit, edit)
      if (known === undefined) hits.set(key, { place, shared, hit })
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
