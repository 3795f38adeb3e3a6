/** Contents of files that were just seen, read while their locations are fresh; what has no place is left to the next run. */
import { Duration, Effect, type Scope } from "effect"
import { BlobStore } from "../ports/archive/BlobStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatChange, ChatFeed, MessageSeen, Push } from "../ports/messenger/MessengerArchive.ts"
import type { MessengerFailure } from "../ports/messenger/MessengerSession.ts"
import { type NamedFile, namedFiles } from "./CapturedFiles.ts"
import { type MediaConnections, readOrGiveUp, stillWanted } from "./Media.ts"

/** Files of an account that wait for their turn. */
const filesKept = 100

/** The longest wait that the messenger's demand holds an account's files back; the run reads what is left out meanwhile. */
const longestWait = Duration.minutes(5)

interface LiveFile extends NamedFile {
  readonly chatId: bigint
}

/** Files of an account that wait for their turn; while there are any, a fiber reads one after the other. */
export interface FileTurns {
  readonly waiting: Array<LiveFile>
  isReading: boolean
}

/** The session of an account whose chats are archived as they change. */
export interface LiveSession {
  readonly feed: ChatFeed
  /** The connections over which contents of files are read, for as long as the scope lasts. */
  readonly reading: Effect.Effect<MediaConnections, MessengerFailure, Scope.Scope>
}

const messageOf = (change: ChatChange): ReadonlyArray<MessageSeen> =>
  (change._tag === "New" || change._tag === "Edited") && change.message.files.length > 0 ? [change.message] : []

/** Reads one content; a failure leaves the file to the next run, and uses up none of its tries. */
const save = Effect.fnUntraced(function*(account: ArchivedAccount, connections: MediaConnections, file: LiveFile) {
  const asker = { account, claimed: null }
  const chat = yield* stillWanted(asker, file.chatId, file)
  if (chat === null) return
  yield* readOrGiveUp(asker, chat, connections, file).pipe(
    Effect.catchTag(
      "PlatformBusy",
      ({ retryAfterSeconds }) => Effect.sleep(Duration.min(longestWait, Duration.seconds(retryAfterSeconds)))
    )
  )
})

/** Reads what waits until nothing does; where it cannot be read, it is left to the next run. */
const readWaiting = (account: ArchivedAccount, { reading }: LiveSession, turns: FileTurns) =>
  Effect.gen(function*() {
    const connections = yield* reading
    for (let file = turns.waiting.shift(); file !== undefined; file = turns.waiting.shift()) {
      yield* save(account, connections, file).pipe(
        Effect.tapDefect((cause) => Effect.logError("Reading of a file that was pushed failed", cause)),
        Effect.ignoreCause
      )
    }
  }).pipe(
    Effect.scoped,
    Effect.ignore,
    Effect.ensuring(Effect.sync(() => {
      turns.waiting.length = 0
      turns.isReading = false
    }))
  )

/** Notes files as pushes and differences tell of them, and reads them beside the pushes, for as long as the scope lasts. */
export const makeLiveFiles = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  session: LiveSession,
  turns: FileTurns
) {
  const { feed } = session
  let seen: Array<MessageSeen> = []
  const { isConfigured } = yield* BlobStore
  const note = (messages: ReadonlyArray<MessageSeen>): void => {
    if (isConfigured) seen.push(...messages.slice(0, filesKept - seen.length))
  }
  const noting: ChatFeed = {
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
  }

  return {
    /** The feed, whose differences are noted too. */
    feed: noting,
    /** Notes the files of pushes that a step is about to store. */
    note: (pushes: ReadonlyArray<Push>): void =>
      note(pushes.flatMap((push) => push._tag === "Pushed" ? messageOf(push.change) : [])),
    /** The noted messages are stored by now: their files are read. */
    begin: Effect.gen(function*() {
      const messages = seen
      seen = []
      for (const message of messages) {
        const files = yield* namedFiles(account, [message])
        const places = filesKept - turns.waiting.length
        turns.waiting.push(...files.slice(0, places).map((file) => ({ ...file, chatId: message.chatId })))
      }
      if (turns.isReading || turns.waiting.length === 0) return
      turns.isReading = true
      yield* Effect.forkScoped(readWaiting(account, session, turns))
    })
  }
})
