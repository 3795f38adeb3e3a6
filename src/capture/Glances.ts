/** Channels looked at that push nothing: large groups push late or not at all while no client shows them. */
import { Effect } from "effect"
import { afterSighting, type CapturedChat, isRefused, isSameChat, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, ChatSeen } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, exclusively } from "./CaptureSteps.ts"
import { expire } from "./Expiry.ts"
import { seeChats } from "./Sightings.ts"

/** Chats that one call asks for. */
const chatsPerGlance = 100

const isWatched = (chat: CapturedChat, at: Date): boolean => isSaved(chat) && !isRefused(chat, at)

/** Each channel has its turn before one has its second. */
export interface GlanceRound {
  /** Those that have had it; none at the end of a round. */
  readonly had: ReadonlySet<bigint>
  /** Glances that a round takes. */
  readonly glances: number
}

export const firstRound: GlanceRound = { had: new Set(), glances: 1 }

/**
 * The chat has moved, or the answer has a fact of it that the archive has not. A new title moves the chat's box; a new
 * username alone is seen by the next run.
 */
const isNews = (known: CapturedChat | undefined, seen: ChatSeen, at: Date): boolean =>
  known === undefined || known.position !== seen.position ||
  !isSameChat(known, afterSighting(known, seen, known, at, null))

/** Looks at the channels whose turn it is and at the common box, and answers which of them have moved. */
const look = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  feed: ChatFeed,
  active: ReadonlySet<Box>,
  before: GlanceRound
) {
  const { had } = before
  const store = yield* CaptureStore
  const at = yield* now
  // An account of which nothing is pushed needs these statements alone.
  const { channels, hasExpired, state } = yield* consult(
    account,
    Effect.all({
      channels: store.liveChannels(account),
      hasExpired: store.hasExpired(account, at),
      state: store.state(account)
    }, { concurrency: "unbounded" })
  )
  const watched = channels.filter((chat) => isWatched(chat, at) && !active.has(chat.chatId))
  const waiting = watched.filter(({ chatId }) => !had.has(chatId))
  const silent = waiting.slice(0, chatsPerGlance)
  const round: GlanceRound = {
    had: waiting.length > silent.length ? new Set([...had, ...silent.map(({ chatId }) => chatId)]) : firstRound.had,
    glances: Math.max(1, Math.ceil(watched.length / chatsPerGlance))
  }
  if (silent.length === 0) return { behind: [], hasExpired, round }
  const found = yield* inTime(feed.peers(silent.map(({ ref }) => ref))).pipe(
    // One of them is refused: their differences tell which.
    Effect.catchTag(
      "PlatformRefused",
      () => Effect.succeed({ behind: silent.map(({ chatId }) => chatId), hasExpired, round })
    ),
    // They are asked for the next time.
    Effect.catchTag(
      ["PlatformBusy", "PlatformUnavailable"],
      () => Effect.succeed({ behind: [], hasExpired, round: before })
    )
  )
  if ("behind" in found) return found
  const known = new Map(silent.map((chat) => [chat.chatId, chat]))
  const news = found.chats.filter((chat) => isNews(known.get(chat.chatId), chat, at))
  if (news.length > 0) yield* commit(account, null, (archive) => seeChats(account, archive, news))
  const isCommonBehind = !active.has("common") && state !== null && state.position < found.state.position
  const moved = news.filter(({ chatId, position }) => known.get(chatId)?.position !== position)
  const behind: ReadonlyArray<Box> = [
    ...(isCommonBehind ? ["common" as const] : []),
    ...moved.map(({ chatId }) => chatId)
  ]
  return { behind, hasExpired, round }
})

/** Marks what has expired, and answers the boxes that have moved without a push, and the round as it goes on. */
export const glance = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  feed: ChatFeed,
  active: ReadonlySet<Box>,
  before: GlanceRound = firstRound
) {
  const { behind, hasExpired, round } = yield* exclusively(account, look(account, feed, active, before))
  if (hasExpired) yield* expire(account, null)
  return { behind, round }
})
