/** Pushes of an account's chats, stored as they arrive. */
import { Duration, Effect } from "effect"
import { type CapturedChat, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, ChatSeen, Push, Pushed } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, exclusively } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"
import { seeChats } from "./Sightings.ts"
import { type ChangePlace, storeChange } from "./StoredChanges.ts"

/** A missing push may still arrive: the difference is asked for after this. */
const gapTime = Duration.millis(500)

const placeOf = (
  position: number | null,
  push: Pick<Pushed, "count" | "position">,
  isBehind: boolean
): ChangePlace => {
  if (position === null || push.position <= position) return "late"
  return push.position === position + push.count && !isBehind ? "next" : "beyond"
}

/** The answer says something of the chat that is not known yet. */
const isNews = (known: CapturedChat | undefined, { joinedAt, left, migratedTo }: ChatSeen): boolean =>
  known === undefined || (known.leftAt !== null) !== left ||
  joinedAt !== null && joinedAt.getTime() !== known.joinedAt?.getTime() ||
  migratedTo !== null && migratedTo !== known.migratedTo

/** Keeps the chats that a push names and that are not known so. */
const seeNews = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chats: ReadonlyArray<ChatSeen>
) {
  const store = yield* CaptureStore
  const named = new Map(chats.map((chat) => [chat.chatId, chat]))
  const known = new Map((yield* store.chats(account, [...named.keys()])).map((chat) => [chat.chatId, chat]))
  // A position in a push is the push's own: what lies before it is unknown.
  const news = [...named.values()].filter((chat) => isNews(known.get(chat.chatId), chat))
  yield* seeChats(account, archive, news.map((chat) => ({ ...chat, position: null })))
})

/** The chats with boxes of their own, and those of them whose difference is asked for before the night. */
const channelsOf = Effect.fnUntraced(function*(account: ArchivedAccount, boxes: Iterable<Box>) {
  const store = yield* CaptureStore
  const chats = yield* store.chats(account, [...boxes].filter((box) => box !== "common"))
  return {
    chats,
    asked: new Set<Box>(chats.filter((chat) => isSaved(chat) && chat.live).map(({ chatId }) => chatId)).add("common")
  }
})

/** Stores the pushes and answers the boxes whose difference is needed. */
const storePushes = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  pushes: ReadonlyArray<Push>
) {
  const store = yield* CaptureStore
  const behind = new Set<Box>()
  const moved = new Map<Box, number>()
  yield* seeNews(account, archive, pushes.flatMap((push) => push._tag === "Pushed" ? push.chats : []))
  const state = yield* store.state(account)
  const { asked, chats } = yield* channelsOf(account, pushes.map(({ box }) => box))
  const positions = new Map<Box, number | null>(chats.map(({ chatId, position }) => [chatId, position]))
  positions.set("common", state?.position ?? null)
  for (const push of pushes) {
    if (push._tag === "Behind") {
      behind.add(push.box)
      continue
    }
    const place = placeOf(positions.get(push.box) ?? null, push, behind.has(push.box))
    const isKnown = yield* storeChange(account, archive, push.change, { place, inRun: false })
    if (place === "beyond" || !isKnown) behind.add(push.box)
    if (place !== "next" || !isKnown) continue
    positions.set(push.box, push.position)
    moved.set(push.box, push.position)
  }
  const position = moved.get("common")
  if (state !== null && position !== undefined) yield* store.setState(account, { ...state, position }, yield* now)
  const channels = yield* store.chats(account, [...moved.keys()].filter((box) => box !== "common"))
  for (const chat of channels) {
    yield* store.keep(account, { ...chat, position: moved.get(chat.chatId) ?? chat.position })
  }
  return [...behind].filter((box) => asked.has(box))
})

const asksFor = (account: ArchivedAccount, feed: ChatFeed, box: Box) =>
  box === "common" ? catchUp(account, null, feed) : catchUpChannel(account, null, feed, box)

/** Stores pushes that arrived together, and asks for what they show to be missing. */
export const takePushes = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  feed: ChatFeed,
  pushes: ReadonlyArray<Push>
) {
  const behind = yield* exclusively(
    account,
    commit(account, null, (archive) => storePushes(account, archive, pushes))
  )
  if (behind.length > 0) yield* Effect.sleep(gapTime)
  for (const box of behind) yield* asksFor(account, feed, box)
})

/** The differences of what was missed before the feed began. */
export const catchUpAll = Effect.fnUntraced(function*(account: ArchivedAccount, feed: ChatFeed) {
  const store = yield* CaptureStore
  yield* catchUp(account, null, feed)
  for (const { chatId } of yield* consult(account, store.liveChannels(account))) {
    yield* catchUpChannel(account, null, feed, chatId)
  }
})
