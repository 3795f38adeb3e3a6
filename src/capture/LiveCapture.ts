/** Pushes of an account's chats, stored as they arrive. */
import { Duration, Effect, Stream } from "effect"
import { now } from "../domain/Moments.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, BoxState, ChatFeed, Push, Pushed } from "../ports/messenger/MessengerArchive.ts"
import { commit, seeChats, storeChange } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"

/** Pushes are stored together: at most so many, and no later than this. */
const pushesPerStep = 100
const longestWait = Duration.millis(250)

/** A missing push may still arrive: the difference is asked for after this. */
const gapTime = Duration.millis(500)

/** A box that was silent for so long is asked for its difference. */
const silence = Duration.minutes(15)

/** A push's place after the position that is stored. */
type PushPlace = "next" | "past" | "beyond"

const placeOf = (position: number | null, push: Pick<Pushed, "count" | "position">): PushPlace => {
  if (position === null || push.position <= position) return "past"
  return push.position === position + push.count ? "next" : "beyond"
}

/** Positions of boxes while a batch is stored. */
const positionsOf = Effect.fnUntraced(function*(account: ArchivedAccount, pushes: ReadonlyArray<Pushed>) {
  const store = yield* CaptureStore
  const state = yield* store.state(account)
  const channels = pushes.flatMap(({ box }) => box === "common" ? [] : [box])
  const chats = channels.length === 0 ? [] : yield* store.chats(account, channels)
  const positions = new Map<Box, number | null>(chats.map(({ chatId, position }) => [chatId, position]))
  positions.set("common", state?.position ?? null)
  return { positions, state }
})

/** Stores the pushes and answers the boxes whose difference is needed. */
const storePushes = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  pushes: ReadonlyArray<Push>
) {
  const store = yield* CaptureStore
  const behind = new Set<Box>()
  const moved = new Set<Box>()
  const pushed = pushes.flatMap((push): ReadonlyArray<Pushed> => push._tag === "Pushed" ? [push] : [])
  const before = yield* positionsOf(account, pushed)
  const chatIds = pushed.flatMap(({ chats }) => chats.map(({ chatId }) => chatId))
  const known = new Set((yield* store.chats(account, chatIds)).map(({ chatId }) => chatId))
  const unknown = new Map(pushed.flatMap(({ chats }) => chats).map((chat) => [chat.chatId, chat]))
  for (const chatId of known) unknown.delete(chatId)
  yield* seeChats(account, archive, [...unknown.values()])
  const { positions, state } = before
  for (const push of pushes) {
    if (push._tag === "Behind") {
      behind.add(push.box)
      continue
    }
    const place = behind.has(push.box) ? "beyond" : placeOf(positions.get(push.box) ?? null, push)
    if (place === "beyond") behind.add(push.box)
    // A deletion beyond a gap waits: the difference names it again.
    if (place !== "beyond" || push.change._tag !== "Deleted") {
      yield* storeChange(account, archive, push.change, place === "next")
    }
    if (place !== "next") continue
    positions.set(push.box, push.position)
    moved.add(push.box)
  }
  for (const box of moved) {
    const position = positions.get(box) ?? null
    if (box !== "common") yield* store.setPosition(account, box, position)
    else if (state !== null && position !== null) {
      const next: BoxState = { ...state, position }
      yield* store.setState(account, next, yield* now)
    }
  }
  return behind
})

const asksFor = (account: ArchivedAccount, feed: ChatFeed, box: Box) =>
  box === "common" ? catchUp(account, null, feed) : catchUpChannel(account, null, feed, box)

/** Stores what is pushed until the feed ends; the differences of what was missed before come first. */
export const captureLive = Effect.fnUntraced(function*(account: ArchivedAccount, feed: ChatFeed) {
  const store = yield* CaptureStore
  const pushes = yield* Stream.toPull(Stream.groupedWithin(feed.pushes, pushesPerStep, longestWait))
  yield* catchUp(account, null, feed)
  const db = yield* commit(account, null, () => store.chats(account, null))
  for (const { chatId, effect, live, position } of db) {
    if (live && effect === "archive" && position !== null) yield* catchUpChannel(account, null, feed, chatId)
  }
  while (true) {
    const batches = yield* Effect.timeoutOption(pushes, silence)
    if (batches._tag === "None") {
      yield* catchUp(account, null, feed)
      continue
    }
    for (const batch of batches.value) {
      const behind = yield* commit(account, null, (archive) => storePushes(account, archive, batch))
      if (behind.size > 0) yield* Effect.sleep(gapTime)
      for (const box of behind) yield* asksFor(account, feed, box)
    }
  }
})
