/** One chat of each run, compared with its newest messages: what is promised of it has to hold. */
import { Effect, Metric } from "effect"
import { type CapturedChat, isCleaned, isOfCommonBox, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { least } from "../domain/archive/ChatProgress.ts"
import { rangeAt } from "../domain/archive/CoveredRanges.ts"
import { now } from "../domain/Moments.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ChatFeed, ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { afterWaits, commitRead, consult, exclusively } from "./CaptureSteps.ts"
import { catchUp, catchUpChannel } from "./Differences.ts"
import type { Pacer } from "./Pacer.ts"
import { unlessRefused } from "./RefusedChats.ts"
import { recordRun } from "./RunEvents.ts"
import { askPage, type HistoryPage, storePage } from "./StoredPages.ts"

const drift = Metric.counter("console_archive_drift_total", {
  description: "Messages that archives lacked, or had otherwise than chats, although they counted as archived",
  incremental: true
})

const isComparable = (chat: CapturedChat, at: Date): boolean =>
  isSaved(chat) && chat.leftAt === null && chat.progress.edge !== null && !isRefused(chat, at)

/** Archived messages of the page's range that the messenger has otherwise, or no more, although no change was lost. */
const outdated = Effect.fnUntraced(function*(run: ClaimedRun, chat: CapturedChat, { messages }: HistoryPage) {
  const { chatId, progress: { edge }, unchecked } = chat
  const low = least(messages.map(({ record }) => record.id))
  if (edge === null || low === null || unchecked !== null) return 0
  const records = yield* ArchiveRecords
  const stored = yield* records.between(run, chatId, low, edge - 1n)
  // A hidden edit, as of reactions, is no change of what is archived.
  const edits = new Map(
    messages.map(({ editHidden, record: { details, id } }) => [id, editHidden ? 0 : details.edited_at ?? 0])
  )
  const { changes, expired, redacted } = yield* Effect.all({
    changes: records.knownChanges(run, chatId, stored, []),
    redacted: records.redacted(run, chatId, stored),
    expired: (yield* CaptureStore).expired(run, chatId, stored, yield* now)
  }, { concurrency: "unbounded" })
  const known = new Map(changes.map((change) => [change.messageId, change]))
  return stored.filter((id) => {
    const { deleted = false, revisions = [] } = known.get(id) ?? {}
    const editedAt = edits.get(id)
    const isOutdated = editedAt === undefined
      ? !deleted
      : editedAt > Math.max(0, ...revisions.map((one) => one.editDate))
    return isOutdated && !redacted.has(id) && !expired.has(id)
  }).length
})

/** The messages of the page that count as archived, and are not. */
const lacking = Effect.fnUntraced(function*(run: ClaimedRun, chat: CapturedChat, { messages }: HistoryPage) {
  const promised = messages.map(({ record }) => record.id).filter((id) =>
    rangeAt(chat.progress.covered, id) !== null && !isCleaned(chat, id)
  )
  const known = yield* (yield* ArchiveRecords).known(run, chat.chatId, promised)
  return promised.filter((id) => !known.has(id)).length
})

/** The number of messages of the page that the archive lacks or has otherwise. */
const differing = (run: ClaimedRun, chat: CapturedChat, page: HistoryPage) =>
  Effect.map(
    Effect.all([lacking(run, chat, page), outdated(run, chat, page)], { concurrency: "unbounded" }),
    ([absent, old]) => absent + old
  )

/** The number of messages that differ; they are stored, and counted as drift, unless that is yet to be `confirmed`. */
const compare = Effect.fnUntraced(function*(run: ClaimedRun, chatId: bigint, reader: ChatReader, confirmed: boolean) {
  const store = yield* CaptureStore
  const [chat] = yield* consult(run, store.chats(run, [chatId]))
  if (chat === undefined || !isSaved(chat)) return 0
  const page = yield* askPage(chat, null, reader)
  return yield* commitRead(run, run, store.chats(run, [chatId]), (archive, [known]) =>
    Effect.gen(function*() {
      const missing = known === undefined || !isSaved(known) ? 0 : yield* differing(run, known, page)
      if (missing > 0 && !confirmed) return missing
      yield* storePage(run, archive, known, page)
      yield* store.drift(run, missing)
      if (missing > 0) yield* recordRun(run, { name: "archive.drifted", details: { messages: missing } })
      return missing
    }))
})

/** Compares one chat, another one each time, and stores what it lacked. */
export const compareOne = Effect.fnUntraced(function*(
  run: ClaimedRun,
  { feed, pacer, reader }: { readonly feed: ChatFeed; readonly pacer: Pacer; readonly reader: ChatReader },
  chats: ReadonlyArray<CapturedChat>
) {
  const at = yield* now
  const comparable = chats.filter((chat) => isComparable(chat, at))
  const chat = comparable[Math.floor(at.getTime() / 1000) % comparable.length]
  if (chat === undefined) return
  const { chatId } = chat
  yield* pacer.take
  const look = (confirmed: boolean) => {
    const step = afterWaits(exclusively(run, compare(run, chatId, reader, confirmed)))
    return unlessRefused(run, run, chatId, step)
  }
  if (((yield* look(false)) ?? 0) === 0) return
  // Changes since the last difference are no drift; without it nothing is known.
  yield* pacer.take
  const common = catchUp(run, run, feed).pipe(
    Effect.as(true),
    Effect.catchTag("PlatformRefused", () => Effect.succeed(false))
  )
  const channel = Effect.as(catchUpChannel(run, run, feed, chatId), true)
  if (!(isOfCommonBox(chatId) ? yield* common : yield* channel)) return
  yield* pacer.take
  const missing = (yield* look(true)) ?? 0
  if (missing === 0) return
  yield* Metric.update(drift, missing)
  yield* Effect.logWarning(
    `The archive of account ${run.accountId} lacked ${missing} messages that counted as archived, or had them otherwise`
  )
})
