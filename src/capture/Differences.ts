/** Changes of boxes since their last known positions, asked for and stored. */
import { Effect, identity } from "effect"
import { afterLoss, type CapturedChat, isOfCommonBox, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import type { FrameTooLarge } from "../domain/archive/Unreadable.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import { ArchiveRuns, type ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive, WriterReplaced } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type {
  Box,
  BoxState,
  ChannelDifference,
  ChatChange,
  ChatFeed,
  Difference
} from "../ports/messenger/MessengerArchive.ts"
import * as CaptureMetrics from "./CaptureMetrics.ts"
import { afterWaits, commit, consult, exclusively } from "./CaptureSteps.ts"
import { someTimes, unlessRefused } from "./RefusedChats.ts"
import { seeChats } from "./Sightings.ts"
import { type ChangeOptions, chatsOf, keepingChats, storeChange } from "./StoredChanges.ts"
import { lose, recentFrom } from "./Unchecked.ts"

/** Runs in the first transaction of a run, before what it has read. */
export type First = (archive: AccountArchive) => Effect.Effect<void, FrameTooLarge | WriterReplaced, CaptureStore>

const nothing: First = () => Effect.void

/** Stores changes of one answer. */
const storeChanges = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  changes: ReadonlyArray<ChatChange>,
  options: ChangeOptions
) {
  const store = yield* CaptureStore
  yield* keepingChats(
    account,
    yield* store.chats(account, chatsOf(changes)),
    (chats) => Effect.forEach(changes, (change) => storeChange(account, archive, chats, change, options))
  )
})

/** The common box begins, or goes on, at a state: what lies between is unknown, and a run compares. */
const beginAt = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  state: BoxState,
  known: BoxState | null,
  first: First
) {
  const store = yield* CaptureStore
  const runs = yield* ArchiveRuns
  yield* commit(account, claimed, (archive) =>
    Effect.gen(function*() {
      yield* first(archive)
      const at = yield* now
      if (known !== null) yield* lose(account, isOfCommonBox)
      yield* store.setState(account, state, at)
      if (known !== null && claimed === null) yield* runs.hasten(account, at)
    }))
  if (known !== null) yield* CaptureMetrics.lost("common")
})

/** Nothing has happened between the states. */
const isSame = (one: BoxState, other: BoxState): boolean => one.position === other.position && one.qts === other.qts

const storeDifference = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  since: BoxState,
  { changes, channels, chats, state }: Extract<Difference, { readonly _tag: "Since" }>,
  first: First
) {
  const store = yield* CaptureStore
  // An account of which nothing was sent needs no writer: the night's run keeps the date.
  const isQuiet = changes.length + channels.length + chats.length === 0 && isSame(state, since)
  if (claimed === null && isQuiet) return
  yield* commit(account, claimed, (archive) =>
    Effect.gen(function*() {
      yield* first(archive)
      yield* seeChats(account, archive, [...chats, ...channels.map(({ chat }) => chat)])
      yield* storeChanges(account, archive, changes, { place: "next", inRun: claimed !== null })
      yield* store.setState(account, state, yield* now)
    }))
})

/** One answer of the common box; the channels that it names, and if there is more. */
const stepCommon = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  first: First
) {
  const store = yield* CaptureStore
  const since = yield* consult(account, store.state(account))
  const found = since === null ? null : yield* inTime(feed.difference(since)).pipe(
    Effect.catchTag("PositionRefused", () => Effect.succeed(null))
  )
  if (since !== null && found !== null && found._tag === "Since") {
    yield* storeDifference(account, claimed, since, found, first)
    return { channels: found.channels.map(({ chat }) => chat.chatId), more: found.more }
  }
  yield* beginAt(account, claimed, found === null ? yield* inTime(feed.state) : found.state, since, first)
  return { channels: [], more: false }
})

/** Everything since the stored state of the common box; without one, the state from which on changes count. */
export const catchUp = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  first: First = nothing
) {
  for (let more = true, before = first; more; before = nothing) {
    const step = yield* ask(account, claimed, feed, "common", before)
    for (const chatId of step.channels) yield* catchUpChannel(account, claimed, feed, chatId)
    more = step.more
  }
})

/** The position was lost: the next dialogs have another one, and what is archived is compared again. */
const losePosition = Effect.fnUntraced(function*(account: ArchivedAccount, chatId: bigint) {
  const store = yield* CaptureStore
  const recent = yield* recentFrom(account, [chatId])
  for (const chat of yield* store.chats(account, [chatId])) {
    yield* store.keep(account, { ...afterLoss(chat, recent(chatId)), position: null })
  }
})

const storeChannel = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  { chatId, position }: CapturedChat,
  found: ChannelDifference
) {
  if (found._tag === "Since" && found.changes.length + found.chats.length === 0 && found.position === position) return
  const store = yield* CaptureStore
  const runs = yield* ArchiveRuns
  yield* commit(account, claimed, (archive) =>
    Effect.gen(function*() {
      const inRun = claimed !== null
      if (found._tag === "TooLong") {
        yield* losePosition(account, chatId)
        yield* seeChats(account, archive, [found.chat])
        const news = found.messages.map((message) => ({ _tag: "New" as const, message }))
        yield* storeChanges(account, archive, news, { place: "beyond", inRun })
        if (!inRun) yield* runs.hasten(account, yield* now)
        return
      }
      yield* seeChats(account, archive, found.chats)
      yield* storeChanges(account, archive, found.changes, { place: "next", inRun })
      for (const chat of yield* store.chats(account, [chatId])) {
        yield* store.keep(account, { ...chat, position: found.position })
      }
    }))
})

/** One answer of a channel's box; true where there is more. */
const stepChannel = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  chatId: bigint
) {
  const store = yield* CaptureStore
  const [chat] = yield* consult(account, store.chats(account, [chatId]))
  // One that is not archived live waits for the night.
  if (chat === undefined || chat.position === null || !isSaved(chat) || claimed === null && !chat.live) return false
  if (isRefused(chat, yield* now)) return false
  const found = yield* inTime(feed.channelDifference(chat.ref, chat.position)).pipe(
    Effect.catchTag("PositionRefused", Effect.succeed)
  )
  yield* found._tag === "PositionRefused"
    ? commit(account, claimed, () => losePosition(account, chatId))
    : storeChannel(account, claimed, chat, found)
  if (found._tag !== "Since") yield* CaptureMetrics.lost(chatId)
  return found._tag === "Since" && found.more
})

/** The rest to ask for after an answer: the channels that it names, and more of its own box. */
interface Left {
  readonly channels: ReadonlyArray<bigint>
  readonly more: boolean
}

/** One answer of the box, stored; a run sleeps through short waits that the messenger demands. */
export const ask = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  box: Box,
  first: First = nothing
) {
  const patiently = claimed === null ? identity : afterWaits
  if (box === "common") {
    const left: Left = yield* someTimes(patiently(exclusively(account, stepCommon(account, claimed, feed, first))))
    return left
  }
  const step = patiently(exclusively(account, stepChannel(account, claimed, feed, box)))
  const left: Left = { channels: [], more: (yield* unlessRefused(account, claimed, box, step)) ?? false }
  return left
})

/** Everything since the stored position of a channel's box, where it is archived. */
export const catchUpChannel = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  chatId: bigint
) {
  while ((yield* ask(account, claimed, feed, chatId)).more);
})
