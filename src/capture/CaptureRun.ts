/** A run over an account: it reads what its archive lacks, the newest first. */
import { Duration, Effect } from "effect"
import { isComplete, nextPage } from "../domain/archive/ChatProgress.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { type CapturedChat, CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ChatFeed, ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, seeChats, storePage } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"
import type { Pacer } from "./Pacer.ts"

/** Pages of one chat before the next one has its turn. */
const pagesPerTurn = 10

const messagesPerPage = 100

/** A chat that the messenger refuses is asked for again after this. */
const refusalTime = Duration.hours(6)

export interface RunConnections {
  readonly feed: ChatFeed
  readonly reader: ChatReader
  readonly pacer: Pacer
}

const readDialogs = Effect.fnUntraced(function*(run: ClaimedRun, { pacer, reader }: RunConnections) {
  const store = yield* CaptureStore
  let cursor: string | null = null
  let done = 0
  do {
    yield* pacer.take
    const page: Effect.Success<ReturnType<typeof reader.chats>> = yield* inTime(reader.chats(cursor))
    done += page.chats.length
    yield* commit(run, run, (archive) =>
      Effect.andThen(
        seeChats(run, archive, page.chats),
        Effect.andThen(store.count(run), store.report(run, { phase: "dialogs", done, total: page.total }))
      ))
    cursor = page.next
  } while (cursor !== null)
})

const isDue = ({ effect, progress, refusedUntil, stopped }: CapturedChat, at: Date): boolean =>
  effect === "archive" && !stopped && !isComplete(progress) && (refusedUntil === null || refusedUntil <= at)

const selected = ({ effect, stopped }: CapturedChat): boolean => effect === "archive" && !stopped

const readTurn = Effect.fnUntraced(function*(run: ClaimedRun, chatId: bigint, { pacer, reader }: RunConnections) {
  const store = yield* CaptureStore
  for (let turn = 0; turn < pagesPerTurn; turn++) {
    const [chat] = yield* consult(run, run, store.chats(run, [chatId]))
    if (chat === undefined || !selected(chat)) return
    const page = nextPage(chat.progress)
    if (page === null) return
    yield* pacer.take
    const messages = yield* inTime(reader.history(chat.ref, page.below, messagesPerPage)).pipe(
      Effect.catchTag("ChatRefused", () => Effect.succeed(null))
    )
    if (messages === null) {
      const until = new Date((yield* now).getTime() + Duration.toMillis(refusalTime))
      yield* commit(run, run, () => store.refuse(run, chatId, until))
      return
    }
    yield* commit(run, run, (archive) => storePage(run, archive, chatId, page, messages))
  }
})

const readMessages = Effect.fnUntraced(function*(run: ClaimedRun, connections: RunConnections) {
  const store = yield* CaptureStore
  while (true) {
    const at = yield* now
    const chats = yield* consult(run, run, store.chats(run, null))
    const due = chats.filter((chat) => isDue(chat, at))
    const total = chats.filter(selected).length
    yield* commit(run, run, () => store.report(run, { phase: "messages", done: total - due.length, total }))
    if (due.length === 0) return
    for (const { chatId } of due) yield* readTurn(run, chatId, connections)
  }
})

/** Reads everything once; what it was told to stop for, and what failed, are its failures. */
export const runCapture = Effect.fnUntraced(function*(run: ClaimedRun, connections: RunConnections) {
  const store = yield* CaptureStore
  yield* commit(run, run, () => Effect.flatMap(now, (at) => store.begin(run, at)))
  yield* catchUp(run, run, connections.feed)
  yield* readDialogs(run, connections)
  const channels = (yield* consult(run, run, store.chats(run, null))).filter(({ position }) => position !== null)
  for (const { chatId } of channels.filter(selected)) yield* catchUpChannel(run, run, connections.feed, chatId)
  yield* readMessages(run, connections)
  yield* commit(
    run,
    run,
    () => Effect.andThen(store.count(run), store.report(run, { phase: "finishing", done: 0, total: null }))
  )
})
