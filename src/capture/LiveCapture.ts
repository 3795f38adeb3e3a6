/** Pushes of an account's chats, stored as they arrive. */
import { Clock, Duration, Effect } from "effect"
import { type CapturedChat, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, ChatSeen, Push, Pushed } from "../ports/messenger/MessengerArchive.ts"
import { isAway, isOfOneBox, pauseAfter } from "./Away.ts"
import { commitRead, consult, exclusively } from "./CaptureSteps.ts"
import { ask } from "./Differences.ts"
import type { DueBoxes } from "./DueBoxes.ts"
import { seeChats } from "./Sightings.ts"
import { type ChangePlace, chatsOf, keepingChats, storeChange } from "./StoredChanges.ts"

/** A missing push may still arrive: the difference is asked for after this. */
export const gapTime = Duration.millis(500)

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
  known.effect !== "skip" && joinedAt !== null && joinedAt.getTime() !== known.joinedAt?.getTime() ||
  migratedTo !== null && migratedTo !== known.migratedTo

/** The chats that the pushes are about or name, and the state of the common box. */
const read = Effect.fnUntraced(function*(account: ArchivedAccount, pushes: ReadonlyArray<Push>) {
  const store = yield* CaptureStore
  const arrived = pushes.filter((push) => push._tag === "Pushed")
  const ids = new Set([
    ...pushes.flatMap(({ box }) => box === "common" ? [] : [box]),
    ...arrived.flatMap(({ chats }) => chats.map(({ chatId }) => chatId)),
    ...chatsOf(arrived.map(({ change }) => change))
  ])
  return yield* Effect.all({ chats: store.chats(account, [...ids]), state: store.state(account) }, {
    concurrency: "unbounded"
  })
})

type Known = Effect.Success<ReturnType<typeof read>>

/** Keeps the chats that a push names and that are not known so, and answers all as they are by then. */
const seeNews = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  pushes: ReadonlyArray<Push>,
  chats: Known["chats"]
) {
  const store = yield* CaptureStore
  const known = new Map(chats.map((chat) => [chat.chatId, chat]))
  const named = new Map(
    pushes.flatMap((push) => push._tag === "Pushed" ? push.chats : []).map((chat) => [chat.chatId, chat])
  )
  // A position in a push is the push's own: what lies before it is unknown.
  const news = [...named.values()].filter((chat) => isNews(known.get(chat.chatId), chat))
  if (news.length === 0) return chats
  yield* seeChats(account, archive, news.map((chat) => ({ ...chat, position: null })))
  return yield* store.chats(account, [...new Set([...known.keys(), ...named.keys()])])
})

/** Stores the pushes and answers the boxes whose difference is needed; channels that are not archived live wait for the night. */
const storePushes = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  pushes: ReadonlyArray<Push>,
  { chats: before, state }: Known
) {
  const store = yield* CaptureStore
  const stored = yield* seeNews(account, archive, pushes, before)
  const behind = new Set<Box>()
  let position = state?.position ?? null
  yield* keepingChats(account, stored, (chats) =>
    Effect.gen(function*() {
      for (const push of pushes) {
        const { box } = push
        if (push._tag === "Behind") {
          behind.add(box)
          continue
        }
        const known = box === "common" ? position : chats.get(box)?.position ?? null
        const place = placeOf(known, push, behind.has(box))
        const isKnown = yield* storeChange(account, archive, chats, push.change, { place, inRun: false })
        if (place === "beyond" || !isKnown) behind.add(box)
        if (place !== "next" || !isKnown) continue
        if (box === "common") position = push.position
        const chat = box === "common" ? undefined : chats.get(box)
        if (chat !== undefined) chats.set(chat.chatId, { ...chat, position: push.position })
      }
    }))
  if (state !== null && position !== null && position !== state.position) {
    yield* store.setState(account, { ...state, position }, yield* now)
  }
  const asked = new Set<Box>(stored.filter((chat) => isSaved(chat) && chat.live).map(({ chatId }) => chatId))
  return [...behind].filter((box) => box === "common" || asked.has(box))
})

/** Stores pushes that arrived together, and answers the boxes of which they show something to be missing. */
export const takePushes = (account: ArchivedAccount, pushes: ReadonlyArray<Push>) =>
  exclusively(
    account,
    commitRead(
      account,
      null,
      Effect.suspend(() => read(account, pushes)),
      (archive, known) => storePushes(account, archive, pushes, known)
    )
  )

/** The boxes whose differences tell what was missed before the feed began. */
export const allBoxes = Effect.fnUntraced(function*(account: ArchivedAccount) {
  const store = yield* CaptureStore
  const channels = yield* consult(account, store.liveChannels(account))
  return ["common" as const, ...channels.map(({ chatId }) => chatId)]
})

/** Answers of differences in a row, before what is pushed meanwhile is stored. */
const answersInRow = 20

/** Asks for some of the differences that are due; what cannot be answered now becomes due again later. */
export const catchUpSome = Effect.fnUntraced(function*(account: ArchivedAccount, feed: ChatFeed, due: DueBoxes) {
  for (let left = answersInRow; left > 0; left--) {
    const box = due.take(yield* Clock.currentTimeMillis)
    if (box === undefined) return
    yield* ask(account, null, feed, box).pipe(
      Effect.map(({ channels, more }) => due.add(more ? [...channels, box] : channels)),
      Effect.catchIf(isAway, (failure) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          const until = at + Duration.toMillis(pauseAfter(failure))
          if (isOfOneBox(failure)) due.postpone(box, until)
          else due.postponeAll(box, until)
        }))
    )
  }
})
