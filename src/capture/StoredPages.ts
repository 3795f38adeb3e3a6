/** Pages of a chat's history, asked for and stored with what they promise. */
import { Duration, Effect } from "effect"
import { afterRefusal, type CapturedChat, isCleaned, isSaved } from "../domain/archive/CapturedChat.ts"
import { afterPage, least } from "../domain/archive/ChatProgress.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatReader, ChatRefused, MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { noteFiles } from "./CapturedFiles.ts"
import { markGone, noteExpiry } from "./Expiry.ts"
import { messageRecord } from "./SeenRecords.ts"

const messagesPerPage = 100

/** A chat that the messenger refuses is asked for again after this. */
const refusalTime = Duration.hours(6)

/** A page of history: below an id, or the newest; `visibleFrom` is the lowest id that the account may see. */
export interface HistoryPage {
  readonly below: bigint | null
  readonly messages: ReadonlyArray<MessageSeen>
  readonly visibleFrom: bigint
  /** Messages of the whole chat, as the messenger counts them. */
  readonly total: number | null
}

/** The page; of one without any message also from which id on the account may see the chat. */
export const askPage = Effect.fnUntraced(function*(
  { ref }: Pick<CapturedChat, "ref">,
  below: bigint | null,
  reader: ChatReader
) {
  const { messages: answered, total } = yield* inTime(reader.history(ref, below, messagesPerPage))
  const messages = below === null ? answered : answered.filter(({ record }) => record.id < below)
  const visibleFrom = messages.length === 0 ? yield* inTime(reader.visibleFrom(ref)) : 1n
  return { below, messages, visibleFrom, total } satisfies HistoryPage
})

/** The messages that are archived: what a cleanup has deleted does not come back. */
export const withoutCleaned = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  chat: CapturedChat,
  messages: ReadonlyArray<MessageSeen>
) {
  const cleaned = messages.filter(({ record }) => isCleaned(chat, record.id)).map(({ record }) => record.id)
  if (cleaned.length === 0) return messages
  const there = yield* (yield* ArchiveRecords).known(account, chat.chatId, cleaned)
  const gone = new Set(cleaned.filter((id) => !there.has(id)))
  return messages.filter(({ record }) => !gone.has(record.id))
})

/**
 * Archived ids of the page's range that the page lacks are gone: above the newest answer there is nothing, below the
 * lowest nothing is known.
 */
const markAbsent = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  { chatId, lastId }: CapturedChat,
  { below, messages, visibleFrom }: HistoryPage
) {
  const records = yield* ArchiveRecords
  const ids = messages.map(({ record }) => record.id)
  const low = least(ids) ?? visibleFrom
  const high = below === null ? lastId : below - 1n
  if (high === null || low > high) return
  const answered = new Set(ids)
  const stored = yield* records.between(account, chatId, low, high)
  yield* markGone(account, archive, chatId, stored.filter((id) => !answered.has(id)))
})

/** The range that is still to be compared, after a page of it. */
const leftUnchecked = ({ unchecked }: CapturedChat, { below, messages }: HistoryPage) => {
  if (unchecked === null) return null
  const low = least(messages.map(({ record }) => record.id))
  if (below !== null && below < unchecked.below) return unchecked
  return low === null || low <= unchecked.to
    ? null
    : { ...unchecked, below: low < unchecked.below ? low : unchecked.below }
}

/** Stores a page of a chat's history, with what it promises, and answers the chat as it is by then. */
export const storePage = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chat: CapturedChat | undefined,
  page: HistoryPage
) {
  if (chat === undefined || !isSaved(chat)) return undefined
  const store = yield* CaptureStore
  const { chatId } = chat
  const { below, messages, total } = page
  yield* markAbsent(account, archive, chat, page)
  const kept = yield* withoutCleaned(account, chat, messages)
  const seen = yield* Effect.forEach(kept, (message) => messageRecord(account, message))
  if (seen.length > 0) yield* archive.append(chatId, seen, "sweep")
  yield* noteFiles(account, chat, kept)
  yield* noteExpiry(account, chatId, kept)
  const ids = messages.map(({ record }) => record.id)
  const oldest = messages.length === 0 ? null : new Date(Math.min(...messages.map(({ record }) => record.at)) * 1000)
  const after: CapturedChat = {
    ...chat,
    progress: afterPage(chat.progress, { below, ids, oldestAt: oldest, lastKnown: chat.lastId }),
    counted: total ?? chat.counted,
    floorAt: ids.length === 0 ? yield* now : chat.floorAt,
    unchecked: leftUnchecked(chat, page)
  }
  yield* store.keep(account, after)
  return after
})

/** The messenger refuses to read the chat: the others go on. */
export const storeRefusal = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  chatId: bigint,
  reason: ChatRefused["reason"]
) {
  const store = yield* CaptureStore
  const [chat] = yield* store.chats(account, [chatId])
  if (chat === undefined) return
  const at = yield* now
  const until = new Date(at.getTime() + Duration.toMillis(refusalTime))
  yield* store.keep(account, afterRefusal(chat, reason !== "unknown", until, at))
})
