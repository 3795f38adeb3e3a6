/** Contents of files that were just seen, read while their locations are fresh; what has no place is left to the next run. */
import { Duration, Effect, Queue, type Scope } from "effect"
import { isSaved } from "../domain/archive/CapturedChat.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { BlobStore } from "../ports/archive/BlobStore.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { WaitingFiles } from "../ports/archive/WaitingFiles.ts"
import type { ChatChange, ChatFeed, MessageSeen, Push } from "../ports/messenger/MessengerArchive.ts"
import { commit } from "./CaptureSteps.ts"
import { type MediaConnections, readOrGiveUp } from "./Media.ts"
import { type NamedFile, namedFiles, sortFiles } from "./SeenFiles.ts"

/** Files of an account that wait for their turn. */
const filesKept = 100

/** The longest wait that the messenger's demand holds an account's files back; the run reads what is left out meanwhile. */
const longestWait = Duration.minutes(5)

interface LiveFile extends NamedFile {
  readonly chatId: bigint
}

/** Files that are read beside the pushes. */
export interface LiveFiles {
  /** Notes the files of pushes that a step is about to store. */
  readonly note: (pushes: ReadonlyArray<Push>) => void
  /** The feed, whose differences are noted too. */
  readonly feed: ChatFeed
  /** The noted messages are stored by now: their files are read. */
  readonly begin: Effect.Effect<void, never, ArchiveCrypto>
}

const messageOf = (change: ChatChange): ReadonlyArray<MessageSeen> =>
  (change._tag === "New" || change._tag === "Edited") && change.message.files.length > 0 ? [change.message] : []

/** The chat of the file, where its content is still wanted. */
const wanted = (account: ArchivedAccount, file: LiveFile) =>
  commit(account, null, () =>
    Effect.gen(function*() {
      const [chat] = yield* (yield* CaptureStore).chats(account, [file.chatId])
      if (chat === undefined || !isSaved(chat)) return null
      if (!(yield* (yield* WaitingFiles).isPending(account, file.fileId))) return null
      return (yield* sortFiles(account, chat, [file])).length === 0 ? null : chat
    }))

/** Reads one content; a failure leaves the file to the next run, and uses up none of its tries. */
const save = Effect.fnUntraced(function*(account: ArchivedAccount, connections: MediaConnections, file: LiveFile) {
  const asker = { account, claimed: null }
  const chat = yield* wanted(account, file)
  if (chat === null) return
  yield* readOrGiveUp(asker, chat, connections, file).pipe(
    Effect.catchTag(
      "PlatformBusy",
      ({ retryAfterSeconds }) => Effect.sleep(Duration.min(longestWait, Duration.seconds(retryAfterSeconds)))
    )
  )
})

/** Begins to read files of the account, one after the other, for as long as the scope lasts. */
export const makeLiveFiles = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  connections: MediaConnections & { readonly feed: ChatFeed }
) {
  const { feed } = connections
  const queue = yield* Queue.dropping<LiveFile>(filesKept)
  let seen: Array<MessageSeen> = []
  const { isConfigured } = yield* BlobStore
  const note = (messages: ReadonlyArray<MessageSeen>): void => {
    if (isConfigured) seen.push(...messages.slice(0, filesKept - seen.length))
  }
  const one = Effect.flatMap(Queue.take(queue), (file) => save(account, connections, file)).pipe(
    Effect.tapDefect((cause) => Effect.logError("Reading of a file that was pushed failed", cause)),
    Effect.ignoreCause
  )
  const services = yield* Effect.context<Effect.Services<typeof one> | Scope.Scope>()
  // A process has many accounts, most of which never have anything to read.
  const read = yield* Effect.cached(Effect.provideContext(Effect.forkScoped(Effect.forever(one)), services))

  return {
    note: (pushes) => note(pushes.flatMap((push) => push._tag === "Pushed" ? messageOf(push.change) : [])),
    feed: {
      ...feed,
      difference: (since) =>
        Effect.tap(feed.difference(since), (found) =>
          Effect.sync(() => {
            if (found._tag === "Since") note(found.changes.flatMap(messageOf))
          })),
      channelDifference: (ref, since) =>
        Effect.tap(
          feed.channelDifference(ref, since),
          (found) => Effect.sync(() => note(found._tag === "Since" ? found.changes.flatMap(messageOf) : found.messages))
        )
    },
    begin: Effect.suspend(() => {
      const messages = seen
      seen = []
      return Effect.forEach(
        messages,
        (message) =>
          Effect.flatMap(
            namedFiles(account, [message]),
            (files) =>
              Effect.andThen(Queue.offerAll(queue, files.map((file) => ({ ...file, chatId: message.chatId }))), read)
          ),
        { discard: true }
      )
    })
  } satisfies LiveFiles
})
