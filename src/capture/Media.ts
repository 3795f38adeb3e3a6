/** Contents of files that wait, small ones first, then the newest; what is refused now is tried again in other nights. */
import { Clock, Duration, Effect, type Semaphore } from "effect"
import { type CapturedChat, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { after, now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { BlobStore } from "../ports/archive/BlobStore.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { WaitingFiles } from "../ports/archive/WaitingFiles.ts"
import type { ChatReader, MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { type NamedFile, namedFiles, sortFiles } from "./CapturedFiles.ts"
import { afterWaits, commit, consult } from "./CaptureSteps.ts"
import { contentOf } from "./FileContent.ts"
import { OpenArchives } from "./OpenArchives.ts"
import type { Pacer } from "./Pacer.ts"
import { someTimes } from "./RefusedChats.ts"

/** Files of one chat that one call asks for. */
const filesPerCall = 100

/** Contents that are read at the same time for one account. */
const filesAtOnce = 2

/** The progress is stored no more often. */
const reportPause = Duration.seconds(2)

/** A file that is refused in so many nights is given up. */
const tries = 3

/** A refused file is tried again after this: once a night, however many runs there are. */
const refusedPause = Duration.hours(20)

/** A file that could not be asked for is tried again after this. */
const awayPause = Duration.minutes(5)

export interface MediaConnections {
  readonly reader: ChatReader
  /** The rate of calls. */
  readonly pacer: Pacer
  /** The rate of parts, of the whole process. */
  readonly mediaPacer: Pacer
  /** Contents that the process reads at the same time. */
  readonly mediaPlaces: Semaphore.Semaphore
}

type Asker = { readonly account: ArchivedAccount; readonly claimed: ClaimedRun | null }

const postpone = ({ account, claimed }: Asker, files: ReadonlyArray<string>) =>
  commit(account, claimed, () =>
    Effect.gen(function*() {
      yield* (yield* WaitingFiles).postpone(account, files, after(yield* now, awayPause))
    }))

const refuse = ({ account, claimed }: Asker, files: ReadonlyArray<string>) =>
  commit(account, claimed, () =>
    Effect.gen(function*() {
      const at = yield* now
      yield* (yield* WaitingFiles).refuse(account, files, { now: at, retryAt: after(at, refusedPause), tries })
    }))

const giveUp = ({ account, claimed }: Asker, files: ReadonlyArray<string>) =>
  commit(account, claimed, () =>
    Effect.gen(function*() {
      yield* (yield* WaitingFiles).giveUp(account, files, "gone", yield* now)
    }))

/** Reads the content of a file and stores it. */
const readContent = Effect.fnUntraced(function*(
  { account }: Asker,
  { mediaPacer, mediaPlaces, reader }: MediaConnections,
  { file, fileId }: NamedFile
) {
  const archive = yield* (yield* OpenArchives).writer(account)
  yield* mediaPlaces.withPermit(archive.storeFile(fileId, {
    messengerFile: file.messengerFile,
    bytes: file.bytes,
    content: contentOf(reader, file, mediaPacer)
  }))
})

/** Another location of the file, since the one that the messenger gave has expired. */
const askAnew = Effect.fnUntraced(function*(
  { account }: Asker,
  chat: CapturedChat,
  { pacer, reader }: MediaConnections,
  { fileId, messageId }: NamedFile
) {
  yield* pacer.take
  const messages = yield* inTime(reader.messages(chat.ref, [messageId]))
  return (yield* namedFiles(account, messages)).find((file) => file.fileId === fileId) ?? null
})

/** Reads the content, once more at another location where this one has expired; one that is gone is given up. */
export const readOrGiveUp = (asker: Asker, chat: CapturedChat, connections: MediaConnections, file: NamedFile) => {
  const gone = giveUp(asker, [file.fileId])
  return readContent(asker, connections, file).pipe(
    Effect.catchTag("FileExpired", () =>
      Effect.flatMap(
        askAnew(asker, chat, connections, file),
        (found) => found === null ? gone : readContent(asker, connections, found)
      )),
    Effect.catchTag("FileGone", () => gone)
  )
}

/** The chat of the file, where its content is still wanted: the rules and the account may have changed since it was found. */
export const stillWanted = ({ account, claimed }: Asker, chatId: bigint, file: NamedFile) =>
  commit(account, claimed, () =>
    Effect.gen(function*() {
      const [chat] = yield* (yield* CaptureStore).chats(account, [chatId])
      if (chat === undefined || !isSaved(chat)) return null
      if (!(yield* (yield* WaitingFiles).isPending(account, file.fileId))) return null
      return (yield* sortFiles(account, chat, [file])).length === 0 ? null : chat
    }))

/** Saves one content where it is still wanted; a failure of it leaves the others alone. */
const save = Effect.fnUntraced(function*(
  asker: Asker,
  chatId: bigint,
  connections: MediaConnections,
  file: NamedFile
) {
  const chat = yield* stillWanted(asker, chatId, file)
  if (chat === null) return
  const later = () => refuse(asker, [file.fileId])
  yield* readOrGiveUp(asker, chat, connections, file).pipe(
    Effect.catchTags({
      FileExpired: later,
      ContentBroken: later,
      ChatRefused: later,
      PlatformRefused: later,
      PlatformUnavailable: () => postpone(asker, [file.fileId]),
      BlobStoreFailed: (failure) => failure.why === "exists" || failure.why === "size" ? later() : Effect.fail(failure)
    })
  )
})

/** Fresh answers of the files' messages; none where the messenger refuses to read the chat. */
const askMessages = (chat: CapturedChat, ids: ReadonlyArray<bigint>, { pacer, reader }: MediaConnections) =>
  someTimes(Effect.andThen(pacer.take, afterWaits(inTime(reader.messages(chat.ref, ids))))).pipe(
    Effect.catchTag(["ChatRefused", "PlatformRefused"], () => Effect.succeed<ReadonlyArray<MessageSeen> | null>(null))
  )

/** Saves the next files of one chat; false where none wait. */
const saveSome = Effect.fnUntraced(function*<E, R>(
  asker: Asker,
  connections: MediaConnections,
  until: Date,
  tried: (files: number) => Effect.Effect<void, E, R>
) {
  const { account, claimed } = asker
  const store = yield* CaptureStore
  const waiting = yield* WaitingFiles
  const next = yield* consult(account, waiting.next(account, until, filesPerCall))
  const [first] = next
  if (first === undefined) return false
  const wanted = new Set(next.map(({ fileId }) => fileId))
  const [chat] = yield* consult(account, store.chats(account, [first.chatId]))
  if (chat === undefined || !isSaved(chat) || isRefused(chat, yield* now)) {
    yield* postpone(asker, [...wanted])
    return true
  }
  const messages = yield* askMessages(chat, [...new Set(next.map(({ messageId }) => messageId))], connections)
  if (messages === null) {
    yield* refuse(asker, [...wanted])
    yield* tried(wanted.size)
    return true
  }
  const found = (yield* namedFiles(account, messages)).filter(({ fileId }) => wanted.has(fileId))
  const there = new Set(found.map(({ fileId }) => fileId))
  yield* giveUp(asker, [...wanted].filter((fileId) => !there.has(fileId)))
  const sorted = yield* commit(account, claimed, () => sortFiles(account, chat, found))
  yield* tried(wanted.size - sorted.length)
  yield* Effect.forEach(sorted, (file) => Effect.andThen(save(asker, chat.chatId, connections, file), tried(1)), {
    concurrency: filesAtOnce,
    discard: true
  })
  return true
})

/**
 * Saves everything that waits until the store of files fails, each file once, where there is a place for it; `report` has
 * the number of those tried.
 */
export const saveFiles = Effect.fnUntraced(function*<E, R>(
  run: ClaimedRun,
  connections: MediaConnections,
  report: (tried: number) => Effect.Effect<void, E, R>
) {
  if (!(yield* BlobStore).isConfigured) return
  const begun = yield* now
  // An admin who asks does not wait for what the messenger did not answer for lately; no file is tried twice in a run.
  const until = run.askedAt === null ? begun : after(begun, Duration.subtract(awayPause, Duration.seconds(1)))
  let all = 0
  let reportedAt = begun.getTime()
  const tried = (files: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      all += files
      if (files === 0 || at - reportedAt < Duration.toMillis(reportPause)) return Effect.void
      reportedAt = at
      return report(all)
    })
  while (yield* saveSome({ account: run, claimed: run }, connections, until, tried));
})
