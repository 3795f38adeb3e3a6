/** Channels looked at that push nothing: large groups push late or not at all while no client shows them. */
import { Effect } from "effect"
import { type CapturedChat, isOfCommonBox, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, exclusively } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"
import { seeChats } from "./Sightings.ts"

/** Chats that one call asks for. */
const chatsPerGlance = 100

const isWatched = (chat: CapturedChat, at: Date): boolean =>
  isSaved(chat) && chat.live && !isOfCommonBox(chat.chatId) && !isRefused(chat, at)

/** Looks at the channels and at the common box, and answers what of them has moved. */
const look = Effect.fnUntraced(function*(account: ArchivedAccount, reader: ChatReader, active: ReadonlySet<Box>) {
  const store = yield* CaptureStore
  const chats = yield* consult(account, null, store.chats(account, null))
  const at = yield* now
  const silent = chats.filter((chat) => isWatched(chat, at) && !active.has(chat.chatId)).slice(0, chatsPerGlance)
  if (silent.length === 0) return { channels: [], common: false }
  const found = yield* inTime(reader.peers(silent.map(({ ref }) => ref)))
  const state = yield* commit(
    account,
    null,
    (archive) => Effect.andThen(seeChats(account, archive, found.chats), store.state(account))
  )
  const positions = new Map(silent.map(({ chatId, position }) => [chatId, position]))
  return {
    channels: found.chats.filter(({ chatId, position }) => position !== positions.get(chatId)).map(({ chatId }) =>
      chatId
    ),
    common: !active.has("common") && state !== null && state.position < found.state.position
  }
})

/** Asks for the differences of channels that have moved without a push. */
export const glance = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  { feed, reader }: { readonly feed: ChatFeed; readonly reader: ChatReader },
  active: ReadonlySet<Box>
) {
  const { channels, common } = yield* exclusively(account, look(account, reader, active))
  if (common) yield* catchUp(account, null, feed)
  for (const chatId of channels) yield* catchUpChannel(account, null, feed, chatId)
})
