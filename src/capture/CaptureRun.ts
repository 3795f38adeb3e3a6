/** A run over an account: it reads what its archive lacks, the newest first. */
import { Effect } from "effect"
import { type CapturedChat, isOfCommonBox, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { isComplete, nextPage } from "../domain/archive/ChatProgress.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore, type RunProgress } from "../ports/archive/CaptureStore.ts"
import { WaitingFiles } from "../ports/archive/WaitingFiles.ts"
import type { ChatFeed, ChatPage, ChatSeen } from "../ports/messenger/MessengerArchive.ts"
import { runPhase } from "./CaptureMetrics.ts"
import { afterWaits, commit, commitRead, consult, exclusively } from "./CaptureSteps.ts"
import { hasDueMembers, readMembers } from "./ChatMembers.ts"
import { catchUp, catchUpChannel, type First } from "./Differences.ts"
import { compareOne } from "./Drift.ts"
import { expire, expireSome } from "./Expiry.ts"
import { type MediaConnections, saveFiles } from "./Media.ts"
import { askAgain, hasOldFloor } from "./Rechecks.ts"
import { unlessRefused } from "./RefusedChats.ts"
import { readKnown, seeChats } from "./Sightings.ts"
import { askPage, storePage } from "./StoredPages.ts"

/** Pages of one chat before the next one has its turn. */
const pagesPerTurn = 10

export interface RunConnections extends MediaConnections {
  readonly feed: ChatFeed
}

/** The facts of a chat that the messenger's dialogs tell. */
type Dialog = Pick<ChatSeen, "position" | "title">

/** Reads the dialogs, and answers the positions of channels and the titles that they name. */
const readDialogs = Effect.fnUntraced(function*(run: ClaimedRun, { pacer, reader }: RunConnections) {
  const store = yield* CaptureStore
  const dialogs = new Map<bigint, Dialog>()
  let cursor: string | null = null
  let done = 0
  do {
    yield* pacer.take
    const page: ChatPage = yield* afterWaits(exclusively(
      run,
      Effect.tap(
        inTime(reader.chats(cursor)),
        ({ chats, total }) =>
          chats.length === 0 ?
            Effect.void :
            commitRead(run, run, readKnown(run, chats), (archive, known) =>
              Effect.gen(function*() {
                done += chats.length
                yield* seeChats(run, archive, chats, known)
                yield* store.count(run)
                yield* store.report(run, { phase: "dialogs", done, total, chat: null }, yield* now)
              }))
      )
    ))
    for (const { chatId, position, title } of page.chats) dialogs.set(chatId, { position, title })
    cursor = page.next
  } while (cursor !== null)
  return dialogs
})

const allChats = (run: ClaimedRun) => Effect.flatMap(CaptureStore, (store) => consult(run, store.chats(run, null)))

/** The differences of channels that have moved since their positions; the chats as they are afterwards. */
const readDifferences = Effect.fnUntraced(function*(
  run: ClaimedRun,
  { feed, pacer }: RunConnections,
  dialogs: ReadonlyMap<bigint, Dialog>
) {
  const chats = yield* allChats(run)
  const moved = chats.filter((chat) =>
    isSaved(chat) && chat.position !== null && dialogs.get(chat.chatId)?.position !== chat.position
  )
  for (const { chatId } of moved) {
    yield* pacer.take
    yield* catchUpChannel(run, run, feed, chatId)
  }
  return moved.length === 0 ? chats : yield* allChats(run)
})

/** The end of the next page that the chat lacks, or that has to be compared again; undefined where there is none. */
const nextBelow = ({ progress, unchecked }: CapturedChat): bigint | null | undefined => {
  const page = nextPage(progress)
  return page === null ? unchecked?.below : page.below
}

/** The chat, with the position of its box where it has one: changes since then follow the pages that are read now. */
const placedChat = Effect.fnUntraced(function*(run: ClaimedRun, chatId: bigint, feed: ChatFeed) {
  const store = yield* CaptureStore
  const [chat] = yield* consult(run, store.chats(run, [chatId]))
  if (chat === undefined || !isSaved(chat) || isOfCommonBox(chatId) || chat.position !== null) return chat
  const { chats } = yield* inTime(feed.peers([chat.ref]))
  const [placed] = yield* commit(
    run,
    run,
    (archive) => Effect.andThen(seeChats(run, archive, chats), store.chats(run, [chatId]))
  )
  return placed
})

/** Reads one page of the chat, and reports that it does; false where it needs no other one. */
const readPage = Effect.fnUntraced(function*(
  run: ClaimedRun,
  chatId: bigint,
  { feed, reader }: RunConnections,
  progress: RunProgress | null
) {
  const chat = yield* placedChat(run, chatId, feed)
  if (chat === undefined || !isSaved(chat)) return false
  const below = nextBelow(chat)
  if (below === undefined) return false
  const page = yield* askPage(chat, below, reader)
  const store = yield* CaptureStore
  const after = yield* commitRead(
    run,
    run,
    store.chats(run, [chatId]),
    (archive, [chat]) =>
      Effect.gen(function*() {
        if (progress !== null) yield* store.report(run, progress, yield* now)
        return yield* storePage(run, archive, chat, page)
      })
  )
  return after !== undefined && nextBelow(after) !== undefined
})

/** Reads some pages of the chat; true where more of them are left. */
const readTurn = Effect.fnUntraced(function*(
  run: ClaimedRun,
  chatId: bigint,
  connections: RunConnections,
  progress: RunProgress
) {
  for (let turn = 0; turn < pagesPerTurn; turn++) {
    yield* connections.pacer.take
    const page = afterWaits(exclusively(run, readPage(run, chatId, connections, turn === 0 ? progress : null)))
    if (!(yield* unlessRefused(run, run, chatId, page))) return false
  }
  return true
})

const hasHole = (chat: CapturedChat): boolean => !isComplete(chat.progress)

const isDue = (chat: CapturedChat, at: Date): boolean =>
  isSaved(chat) && (hasHole(chat) || chat.unchecked !== null) && !isRefused(chat, at)

/**
 * Reads all chats until each was without a hole once, and answers them: what comes while it reads is the next run's, or
 * is pushed.
 */
const readMessages = Effect.fnUntraced(function*(
  run: ClaimedRun,
  connections: RunConnections,
  known: ReadonlyArray<CapturedChat>,
  dialogs: ReadonlyMap<bigint, Dialog>
) {
  const finished = new Set<bigint>()
  for (let chats = known;; chats = yield* allChats(run)) {
    const at = yield* now
    const due = chats.filter((chat) => isDue(chat, at) && !finished.has(chat.chatId))
    if (due.length === 0) return chats
    const total = chats.filter(isSaved).length
    let done = total - due.length
    // Comparing waits until nothing is missing.
    const missing = due.filter(hasHole)
    for (const { chatId } of missing.length > 0 ? missing : due) {
      const progress: RunProgress = { phase: "messages", done, total, chat: dialogs.get(chatId)?.title ?? null }
      if (yield* readTurn(run, chatId, connections, progress)) continue
      finished.add(chatId)
      done += 1
    }
  }
})

const report = Effect.fnUntraced(function*(run: ClaimedRun, progress: RunProgress) {
  const store = yield* CaptureStore
  const at = yield* now
  yield* commit(run, run, () => store.report(run, progress, at))
})

const start = Effect.fnUntraced(function*(run: ClaimedRun, { feed }: RunConnections) {
  const store = yield* CaptureStore
  let moreExpire: boolean | null = null
  const begin: First = (archive) =>
    Effect.gen(function*() {
      yield* store.begin(run, yield* now)
      moreExpire = yield* expireSome(run, archive)
    })
  // Without the difference of the common box its chats are read by pages.
  yield* Effect.catchTag(
    catchUp(run, run, feed, begin),
    "PlatformRefused",
    () => moreExpire === null ? commit(run, run, begin) : Effect.void
  )
  if (moreExpire === true) yield* expire(run, run)
})

const readFiles = Effect.fnUntraced(function*(run: ClaimedRun, connections: RunConnections) {
  const total = yield* consult(run, Effect.flatMap(WaitingFiles, (waiting) => waiting.count(run)))
  if (total === 0) return
  const reportFiles = (done: number) => report(run, { phase: "media", done: Math.min(done, total), total, chat: null })
  yield* reportFiles(0)
  yield* saveFiles(run, connections, reportFiles)
})

/** Reads files; the failure of their store, which keeps nothing else of the run back, or null. */
const tryFiles = (run: ClaimedRun, connections: RunConnections) =>
  readFiles(run, connections).pipe(
    Effect.as(null),
    Effect.catchTag("BlobStoreFailed", (failure) =>
      Effect.as(
        Effect.logWarning("Files of archived messages are not stored", { account: run.accountId }, failure),
        failure
      ))
  )

const finish = Effect.fnUntraced(function*(
  run: ClaimedRun,
  connections: RunConnections,
  known: ReadonlyArray<CapturedChat>,
  dialogs: ReadonlyMap<bigint, Dialog>
) {
  const reportFinishing = report(run, { phase: "finishing", done: 0, total: null, chat: null })
  const at = yield* now
  // A call or two are over before anybody sees the phase.
  if (known.some((chat) => hasOldFloor(chat, at) || hasDueMembers(chat, at))) yield* reportFinishing
  let chats = known
  if (yield* askAgain(run, connections, chats)) {
    chats = yield* readMessages(run, connections, yield* allChats(run), dialogs)
    yield* reportFinishing
  }
  yield* compareOne(run, connections, chats)
  yield* readMembers(run, connections, chats)
})

/** Reads everything once; what it was stopped for, and what failed, are its failures. */
export const runCapture = Effect.fnUntraced(function*(run: ClaimedRun, connections: RunConnections) {
  yield* runPhase("starting")(start(run, connections))
  const dialogs = yield* runPhase("dialogs")(readDialogs(run, connections))
  const chats = yield* runPhase("messages")(
    Effect.flatMap(
      readDifferences(run, connections, dialogs),
      (chats) => readMessages(run, connections, chats, dialogs)
    )
  )
  const failure = yield* runPhase("media")(tryFiles(run, connections))
  yield* runPhase("finishing")(finish(run, connections, chats, dialogs))
  if (failure !== null) return yield* failure
})
