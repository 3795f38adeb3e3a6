/** Pushes of an account's chats, stored as they arrive. */
import { type Cause, Clock, Duration, Effect, Queue, type Semaphore, Stream } from "effect"
import { type CapturedChat, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, ChatSeen, Push, Pushed } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, exclusively } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"
import { firstRound, glance } from "./Glances.ts"
import { makeLiveFiles } from "./LiveFiles.ts"
import type { MediaConnections } from "./Media.ts"
import { shareOf } from "./NextRuns.ts"
import { seeChats } from "./Sightings.ts"
import { type ChangePlace, storeChange } from "./StoredChanges.ts"

/** Pushes are stored together: at most so many, and those of this time. */
const pushesPerStep = 100
const gatheringTime = Duration.millis(250)

/** A missing push may still arrive: the difference is asked for after this. */
const gapTime = Duration.millis(500)

/** A feed that was silent for so long is asked for the difference of the common box. */
const silence = Duration.minutes(15)

/** Each channel that pushed nothing is looked at so often where something came within a day, and hourly otherwise. */
const glanceTime = Duration.minutes(5)
const quietGlanceTime = Duration.hours(1)
const quietAfter = Duration.days(1)

export interface LiveConnections extends MediaConnections {
  readonly feed: ChatFeed
  /** Feeds that catch up at the same time when they begin: a process begins with those of all its accounts. */
  readonly beginPlaces: Semaphore.Semaphore
}

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

/** Stores what is pushed until the feed ends. */
export const captureLive = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  connections: LiveConnections
) {
  const { reader } = connections
  const files = yield* makeLiveFiles(account, connections)
  const { feed } = files
  // A pull that is interrupted, as by its time, is the stream's last: a queue is waited at instead.
  const pushes = yield* Queue.make<Push, Cause.Done>({ capacity: pushesPerStep - 1 })
  yield* Effect.forkScoped(Stream.runIntoQueue(feed.pushes, pushes))
  yield* connections.beginPlaces.withPermit(catchUpAll(account, feed))
  yield* files.begin
  let heard = yield* Clock.currentTimeMillis
  // Feeds that begin together do not ask together for ever.
  const share = shareOf(account.accountId)
  let glanced = heard - share * Duration.toMillis(glanceTime)
  let asked = heard - share * Duration.toMillis(silence)
  const active = new Set<Box>()
  let round = firstRound
  while (true) {
    const at = yield* Clock.currentTimeMillis
    const nextGlance = () =>
      glanced +
      Duration.toMillis(at - heard < Duration.toMillis(quietAfter) ? glanceTime : quietGlanceTime) / round.glances
    if (at >= nextGlance()) {
      round = yield* glance(account, { feed, reader }, active, round)
      if (round.had.size === 0) active.clear()
      glanced = at
    }
    if (at >= asked + Duration.toMillis(silence)) {
      yield* catchUp(account, null, feed)
      asked = at
    }
    yield* files.begin
    const due = Math.min(nextGlance(), asked + Duration.toMillis(silence))
    const found = yield* Effect.timeoutOption(Queue.take(pushes), Math.max(0, due - at))
    if (found._tag === "None") continue
    yield* Effect.sleep(gatheringTime)
    const batch = [found.value, ...(yield* Queue.clear(pushes))]
    heard = yield* Clock.currentTimeMillis
    asked = heard
    for (const { box } of batch) active.add(box)
    files.note(batch)
    yield* takePushes(account, feed, batch)
    yield* files.begin
  }
})
