/** One chat of each run, compared with its newest messages: what is promised of it has to hold. */
import { Effect, Metric } from "effect"
import { type CapturedChat, isCleaned, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { rangeAt } from "../domain/archive/CoveredRanges.ts"
import { now } from "../domain/Moments.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { afterWaits, commitRead, consult, exclusively } from "./CaptureSteps.ts"
import type { Pacer } from "./Pacer.ts"
import { unlessRefused } from "./RefusedChats.ts"
import { recordRun } from "./RunEvents.ts"
import { askPage, type HistoryPage, storePage } from "./StoredPages.ts"

const drift = Metric.counter("console_archive_drift_total", {
  description: "Messages that chats had and archives lacked although they counted as archived",
  incremental: true
})

const isComparable = (chat: CapturedChat, at: Date): boolean =>
  isSaved(chat) && chat.leftAt === null && chat.progress.edge !== null && !isRefused(chat, at)

/** The messages of the page that count as archived, and are not. */
const lacking = Effect.fnUntraced(function*(run: ClaimedRun, chat: CapturedChat, { messages }: HistoryPage) {
  const promised = messages.map(({ record }) => record.id).filter((id) =>
    rangeAt(chat.progress.covered, id) !== null && !isCleaned(chat, id)
  )
  const known = yield* (yield* ArchiveRecords).known(run, chat.chatId, promised)
  return promised.filter((id) => !known.has(id)).length
})

const compare = Effect.fnUntraced(function*(run: ClaimedRun, chatId: bigint, reader: ChatReader) {
  const store = yield* CaptureStore
  const [chat] = yield* consult(run, store.chats(run, [chatId]))
  if (chat === undefined || !isSaved(chat)) return 0
  const page = yield* askPage(chat, null, reader)
  return yield* commitRead(run, run, store.chats(run, [chatId]), (archive, [known]) =>
    Effect.gen(function*() {
      const missing = known === undefined || !isSaved(known) ? 0 : yield* lacking(run, known, page)
      yield* storePage(run, archive, known, page)
      yield* store.drift(run, missing)
      if (missing > 0) yield* recordRun(run, { name: "archive.drifted", details: { messages: missing } })
      return missing
    }))
})

/** Compares one chat, another one each time, and stores what it lacked. */
export const compareOne = Effect.fnUntraced(function*(
  run: ClaimedRun,
  { pacer, reader }: { readonly pacer: Pacer; readonly reader: ChatReader },
  chats: ReadonlyArray<CapturedChat>
) {
  const at = yield* now
  const comparable = chats.filter((chat) => isComparable(chat, at))
  const chat = comparable[Math.floor(at.getTime() / 1000) % comparable.length]
  if (chat === undefined) return
  yield* pacer.take
  const step = afterWaits(exclusively(run, compare(run, chat.chatId, reader)))
  const missing = (yield* unlessRefused(run, run, chat.chatId, step)) ?? 0
  if (missing === 0) return
  yield* Metric.update(drift, missing)
  yield* Effect.logWarning(
    `The archive of account ${run.accountId} lacked ${missing} messages that counted as archived`
  )
})
