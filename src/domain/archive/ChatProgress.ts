/** The promises of a captured chat: which ids are archived without a gap, and how they grow with what is answered. */
import { cover, type Covered, rangeAt } from "./CoveredRanges.ts"

export interface ChatProgress {
  readonly covered: Covered
  /** The chat is covered up to here without a gap to its newest message; null where that is unknown. */
  readonly edge: bigint | null
  /** Nothing that the account sees lies below; null while that is unknown. */
  readonly floor: bigint | null
  /** The newest message that the messenger named; null while none is known. */
  readonly topId: bigint | null
  /** The time of the oldest message that is known of the highest covered range; null while none is. */
  readonly reachedAt: Date | null
}

export const noProgress: ChatProgress = { covered: [], edge: null, floor: null, topId: null, reachedAt: null }

/** The next page to ask for: below an id, or the newest. */
export type NextPage = { readonly below: bigint | null }

const isTopCovered = ({ edge, topId }: ChatProgress): boolean => edge !== null && (topId === null || topId < edge)

/** The next page that a chat lacks, the newest first; null where it is complete. */
export const nextPage = (chat: ChatProgress): NextPage | null => {
  const { covered, edge, floor } = chat
  if (!isTopCovered(chat) || edge === null) return { below: null }
  if (floor !== null && floor >= edge) return null
  const low = rangeAt(covered, edge - 1n)?.low ?? edge
  return floor !== null && low <= floor ? null : { below: low }
}

/** The ids of an answered page, in any order, whose part that is asked for lies below `below`. */
export interface AnsweredPage extends NextPage {
  readonly ids: ReadonlyArray<bigint>
  /** The time of the page's oldest message; null without any. */
  readonly oldestAt: Date | null
  /** The highest id that is archived already. */
  readonly lastKnown: bigint | null
}

export const least = (ids: ReadonlyArray<bigint>): bigint | null =>
  ids.reduce<bigint | null>((found, id) => found === null || id < found ? id : found, null)

export const most = (ids: ReadonlyArray<bigint>): bigint | null =>
  ids.reduce<bigint | null>((found, id) => found === null || id > found ? id : found, null)

/** The ranges with one more of messages from `at` on, and how far back the highest of them reaches. */
const grown = (
  { covered, reachedAt }: ChatProgress,
  low: bigint,
  high: bigint,
  at: Date | null
): Pick<ChatProgress, "covered" | "reachedAt"> => {
  const after = cover(covered, { low, high })
  const before = covered.at(-1)
  const highest = after.at(-1)
  if (highest === undefined || high <= highest.low) return { covered: after, reachedAt }
  const holdsBefore = before !== undefined && highest.low <= before.low
  if (!holdsBefore || reachedAt === null) return { covered: after, reachedAt: at }
  return { covered: after, reachedAt: at !== null && at < reachedAt ? at : reachedAt }
}

/** The lowest id below which nothing is archived that the account may have seen since. */
const floorBelow = ({ below, lastKnown }: AnsweredPage): bigint => below ?? (lastKnown === null ? 1n : lastKnown + 1n)

/**
 * The promises after a page. A page with fewer messages than asked for proves nothing about what lies below; only one
 * without any does.
 */
export const afterPage = (chat: ChatProgress, page: AnsweredPage): ChatProgress => {
  const { below, ids, oldestAt } = page
  const low = least(ids)
  const high = most(ids)
  if (low === null || high === null) {
    const floor = floorBelow(page)
    const raised = chat.floor === null || floor > chat.floor ? floor : chat.floor
    return below === null ? { ...chat, floor: raised, edge: raised, topId: null } : { ...chat, floor: raised }
  }
  if (below !== null) return { ...chat, ...grown(chat, low, below, oldestAt) }
  return { ...chat, ...grown(chat, low, high + 1n, oldestAt), edge: high + 1n, topId: high }
}

/** The promises after a message that was pushed, while its box has no gap. */
export const afterPush = (chat: ChatProgress, id: bigint, at: Date): ChatProgress => {
  if (chat.edge !== null && id < chat.edge) return chat
  // Without an edge, or where nothing was answered below it, what lies below the message may be hidden.
  const from = chat.edge === null || chat.edge === chat.floor ? id : chat.edge
  const topId = chat.topId === null || id > chat.topId ? id : chat.topId
  return { ...chat, ...grown(chat, from, id + 1n, at), edge: id + 1n, topId }
}

/** The chat is archived from its beginning to its newest message. */
export const isComplete = (chat: ChatProgress): boolean => nextPage(chat) === null
