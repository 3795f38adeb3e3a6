/** A chat as capture knows it, and how that changes with what is seen of it. */
import type { ChatEffect, ChatType } from "./Chat.ts"
import { type ChatProgress, least, most, noProgress } from "./ChatProgress.ts"
import { type Covered, rangeAt } from "./CoveredRanges.ts"
import type { Selection } from "./RuleSelection.ts"

/** Archived messages to compare again with what the account sees: those below `below`, down to `to`. */
export interface Unchecked {
  readonly below: bigint
  readonly to: bigint
}

export interface CapturedChat {
  readonly chatId: bigint
  readonly type: ChatType
  /** The messenger's address of it. */
  readonly ref: string
  readonly effect: ChatEffect
  readonly live: boolean
  readonly ruleId: string | null
  /** A cleanup has stopped it: nothing more of it is saved. */
  readonly stopped: boolean
  readonly protected: boolean
  readonly joinedAt: Date | null
  readonly leftAt: Date | null
  /** The chat that continues it. */
  readonly migratedTo: bigint | null
  /** Everything of its own box up to here is archived; null where it shares the common box, or that is unknown. */
  readonly position: number | null
  readonly progress: ChatProgress
  /** Its messages, as the messenger last counted them; null before it did. */
  readonly counted: number | null
  /** The time when its floor was seen. */
  readonly floorAt: Date | null
  readonly unchecked: Unchecked | null
  /** Ids that cleanups deleted: those that are not there are not archived again. */
  readonly cleaned: Covered
  /** The highest id that is archived. */
  readonly lastId: bigint | null
  /** The messenger refuses to read it, and is not asked before. */
  readonly refusedUntil: Date | null
  /** The number of people in it, as last seen. */
  readonly members: number | null
  /** The time when they were read; null where their number has changed since. */
  readonly membersAt: Date | null
}

/** A chat as an answer of the messenger shows it. */
export interface Sighting {
  readonly chatId: bigint
  readonly type: ChatType
  readonly ref: string
  readonly protected: boolean
  readonly joinedAt: Date | null
  readonly left: boolean
  readonly migratedTo: bigint | null
  readonly topId: bigint | null
  readonly position: number | null
  readonly members: number | null
}

const isSameValue = (one: unknown, other: unknown): boolean =>
  one === other || one instanceof Date && other instanceof Date && one.getTime() === other.getTime()

const isSameIn = (one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(one).every(([name, value]) => isSameValue(value, other[name]))

/** True if a chat that follows from another one is as that was; ranges that were made again count as changed. */
export const isSameChat = (
  { progress: before, ...facts }: CapturedChat,
  { progress: after, ...others }: CapturedChat
): boolean => isSameIn(facts, others) && isSameIn({ ...before }, { ...after })

/** Channels have a box of their own, also where its position was lost: the id alone tells it. */
export const isOfCommonBox = (chatId: bigint): boolean => chatId > -1_000_000_000_000n

/** Its messages are archived. */
export const isSaved = ({ effect, stopped }: Pick<CapturedChat, "effect" | "stopped">): boolean =>
  effect === "archive" && !stopped

/** The messenger has refused to read it, and is not asked at this time. */
export const isRefused = ({ refusedUntil }: Pick<CapturedChat, "refusedUntil">, at: Date): boolean =>
  refusedUntil !== null && refusedUntil > at

/** The chat with more to compare again. */
export const unchecked = (chat: CapturedChat, range: Unchecked): CapturedChat => {
  if (range.to >= range.below) return chat
  const { unchecked: before } = chat
  if (before === null) return { ...chat, unchecked: range }
  return {
    ...chat,
    unchecked: {
      below: most([before.below, range.below]) ?? range.below,
      to: least([before.to, range.to]) ?? range.to
    }
  }
}

/** Everything that is covered is to be compared again, from an id on where older messages need not be. */
export const uncheckedFrom = (chat: CapturedChat, from: bigint | null): CapturedChat => {
  const low = chat.progress.covered[0]?.low
  const high = chat.progress.covered.at(-1)?.high
  if (low === undefined || high === undefined) return chat
  return unchecked(chat, { below: high, to: from !== null && from > low ? from : low })
}

/** The ids below `below` that are archived and were not compared since, as after a push that came too late. */
export const uncheckedDownTo = (chat: CapturedChat, id: bigint): CapturedChat => {
  const below = most([id + 1n, ...chat.progress.covered.slice(-1).map(({ high }) => high)]) ?? id + 1n
  return unchecked(chat, { below, to: id })
}

export const withoutEdge = (chat: CapturedChat): CapturedChat => ({
  ...chat,
  progress: { ...chat.progress, edge: null }
})

/** Changes of the chat's box were lost: what is archived, from an id on, may have changed. */
export const afterLoss = (chat: CapturedChat, from: bigint | null): CapturedChat => {
  const without = withoutEdge(chat)
  return isSaved(chat) ? uncheckedFrom(without, from) : without
}

/** The messenger refuses to read the chat. */
export const afterRefusal = (chat: CapturedChat, isGone: boolean, until: Date, now: Date): CapturedChat => ({
  ...withoutEdge(chat),
  position: null,
  leftAt: isGone ? chat.leftAt ?? now : chat.leftAt,
  refusedUntil: until
})

/** Ids of the chat that a cleanup deleted are not archived again. */
export const isCleaned = ({ cleaned }: CapturedChat, id: bigint): boolean => rangeAt(cleaned, id) !== null

/** The rules' decision, as far as a chat keeps it. */
type Kept = Pick<Selection, "effect" | "live" | "ruleId">

const newlyJoined = (known: CapturedChat, { joinedAt }: Sighting): boolean =>
  joinedAt !== null && joinedAt.getTime() !== known.joinedAt?.getTime()

/** Of a chat that is skipped nothing is kept but what tells it again, and what was archived before. */
const bareIfSkipped = (chat: CapturedChat): CapturedChat =>
  chat.effect !== "skip"
    ? chat
    : {
      ...chat,
      joinedAt: null,
      members: null,
      membersAt: null,
      counted: null,
      progress: { ...chat.progress, topId: null }
    }

/** The chat as the rules judge it now: what has changed while it was not archived is unknown. */
export const afterSelection = (chat: CapturedChat, { effect, live, ruleId }: Kept): CapturedChat => {
  const judged = { ...chat, effect, live, ruleId }
  if (chat.effect === effect) return judged
  return effect === "archive" ? uncheckedFrom(withoutEdge(judged), null) : bareIfSkipped(withoutEdge(judged))
}

const firstSighting = (seen: Sighting, { effect, live, ruleId }: Kept, now: Date): CapturedChat => ({
  chatId: seen.chatId,
  type: seen.type,
  ref: seen.ref,
  effect,
  live,
  ruleId,
  stopped: false,
  protected: seen.protected,
  joinedAt: seen.joinedAt,
  leftAt: seen.left ? now : null,
  migratedTo: seen.migratedTo,
  position: seen.position,
  progress: { ...noProgress, topId: seen.topId },
  counted: null,
  floorAt: null,
  unchecked: null,
  cleaned: [],
  lastId: null,
  refusedUntil: null,
  members: seen.members,
  membersAt: null
})

/**
 * The account joined since: history was shown or hidden meanwhile. Answers may have been taken for seamless before that was
 * seen, so that nothing counts as covered, and all is read and compared again.
 */
const afterJoining = (chat: CapturedChat): CapturedChat => ({
  ...chat,
  progress: { ...noProgress, topId: chat.progress.topId },
  unchecked: null,
  refusedUntil: null
})

/**
 * The chat after it was seen; an answer that lacks a fact leaves what is known. With a position where there was none,
 * what is archived from `recent` on is compared again: its changes until then are unknown.
 */
export const afterSighting = (
  known: CapturedChat | null,
  seen: Sighting,
  selection: Kept,
  now: Date,
  recent: bigint | null
): CapturedChat => {
  if (known === null) return bareIfSkipped(firstSighting(seen, selection, now))
  const topId = most([known.progress.topId, seen.topId].filter((id) => id !== null))
  const chat = afterSelection({
    ...known,
    type: seen.type,
    ref: seen.ref,
    protected: seen.protected,
    joinedAt: seen.joinedAt ?? known.joinedAt,
    leftAt: seen.left ? known.leftAt ?? now : null,
    migratedTo: seen.migratedTo ?? known.migratedTo,
    position: known.position ?? seen.position,
    members: seen.members ?? known.members,
    membersAt: seen.members === null || seen.members === known.members ? known.membersAt : null,
    progress: { ...known.progress, topId }
  }, selection)
  const placed = known.position === null && seen.position !== null ? uncheckedFrom(withoutEdge(chat), recent) : chat
  return selection.effect !== "skip" && newlyJoined(known, seen) ? afterJoining(placed) : bareIfSkipped(placed)
}
