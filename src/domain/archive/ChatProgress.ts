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
}

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
  /** The highest id that is archived already. */
  readonly lastKnown: bigint | null
}

const least = (ids: ReadonlyArray<bigint>): bigint | null =>
  ids.reduce<bigint | null>((found, id) => found === null || id < found ? id : found, null)

const most = (ids: ReadonlyArray<bigint>): bigint | null =>
  ids.reduce<bigint | null>((found, id) => found === null || id > found ? id : found, null)

/**
 * The promises after a page. A page with fewer messages than asked for proves nothing about what lies below; only one
 * without any does.
 */
export const afterPage = (chat: ChatProgress, { below, ids, lastKnown }: AnsweredPage): ChatProgress => {
  const low = least(ids)
  const high = most(ids)
  if (low === null || high === null) {
    const floor = below ?? (lastKnown === null ? 1n : lastKnown + 1n)
    const raised = chat.floor === null || floor > chat.floor ? floor : chat.floor
    return below === null ? { ...chat, floor: raised, edge: raised, topId: null } : { ...chat, floor: raised }
  }
  if (below !== null) return { ...chat, covered: cover(chat.covered, { low, high: below }) }
  return { ...chat, covered: cover(chat.covered, { low, high: high + 1n }), edge: high + 1n, topId: high }
}

/** The promises after a message that was pushed, while its box has no gap. */
export const afterPush = (chat: ChatProgress, id: bigint): ChatProgress => {
  const from = chat.edge ?? id
  if (id < from) return chat
  const topId = chat.topId === null || id > chat.topId ? id : chat.topId
  // Without an edge nothing is known of what lies below the message.
  return { ...chat, covered: cover(chat.covered, { low: from, high: id + 1n }), edge: id + 1n, topId }
}

/** The chat is archived from its beginning to its newest message. */
export const isComplete = (chat: ChatProgress): boolean => nextPage(chat) === null
