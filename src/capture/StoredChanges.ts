/** Changes of chats, stored with what they promise. */
import { Effect } from "effect"
import { type CapturedChat, isSaved, uncheckedDownTo, withoutEdge } from "../domain/archive/CapturedChat.ts"
import { afterPush } from "../domain/archive/ChatProgress.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatChange, MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { noteFiles } from "./CapturedFiles.ts"
import * as CaptureMetrics from "./CaptureMetrics.ts"
import { noteExpiry } from "./Expiry.ts"
import { messageRecord } from "./SeenRecords.ts"
import { withoutCleaned } from "./StoredPages.ts"

/**
 * A change's place in its box: `next` follows what is archived, `late` was passed already, `beyond` lies after a gap.
 * Only the next one promises anything.
 */
export type ChangePlace = "next" | "late" | "beyond"

export interface ChangeOptions {
  readonly place: ChangePlace
  /** A run stores also what waits for the night. */
  readonly inRun: boolean
}

/** The chats of a step as it leaves them, by their ids. */
type Chats = Map<bigint, CapturedChat>

/** Runs changes over chats as they are stored, and keeps what has changed of them. */
export const keepingChats = Effect.fnUntraced(function*<A, E, R>(
  account: ArchivedAccount,
  stored: ReadonlyArray<CapturedChat>,
  work: (chats: Chats) => Effect.Effect<A, E, R>
) {
  const store = yield* CaptureStore
  const chats: Chats = new Map(stored.map((chat) => [chat.chatId, chat]))
  const answer = yield* work(chats)
  for (const before of stored) {
    const after = chats.get(before.chatId)
    if (after !== undefined && after !== before) yield* store.keep(account, after)
  }
  return answer
})

/** The chats of the changes' messages. */
export const chatsOf = (changes: ReadonlyArray<ChatChange>): ReadonlyArray<bigint> => [
  ...new Set(
    changes.flatMap((change) => change._tag === "New" || change._tag === "Edited" ? [change.message.chatId] : [])
  )
]

/** Records that messages were deleted, in the chats that hold them. */
const storeDeletion = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chatId: bigint | null,
  ids: ReadonlyArray<bigint>
) {
  const store = yield* CaptureStore
  if (ids.length === 0) return
  const places = chatId === null ? yield* store.chatsOf(account, ids) : [{ chatId, ids }]
  for (const place of places) yield* archive.mark(place.chatId, place.ids, "deleted", "live")
})

const isKnown = Effect.fnUntraced(function*(account: ArchivedAccount, { chatId, record }: MessageSeen) {
  const records = yield* ArchiveRecords
  return (yield* records.known(account, chatId, [record.id])).has(record.id)
})

/** Stores the message and answers the chat with what is promised of it by now. */
const storeMessage = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chat: CapturedChat,
  { message, tag }: { readonly message: MessageSeen; readonly tag: "New" | "Edited" },
  { inRun, place }: ChangeOptions
) {
  const { chatId, record } = message
  const waits = !chat.live && !inRun
  // The night's run finds it: the chat is no longer covered up to its newest message.
  if (tag === "New" && waits) return withoutEdge(chat)
  const known = waits || place === "late" ? yield* isKnown(account, message) : false
  if (waits && !known) return chat
  const [kept] = yield* withoutCleaned(account, chat, [message])
  if (kept !== undefined) {
    const path = inRun ? "sweep" : "live"
    yield* archive.append(chatId, [yield* messageRecord(account, kept)], path, place === "late" ? "late" : undefined)
    yield* noteFiles(account, chat, [kept])
    yield* noteExpiry(account, chatId, [kept])
    if (tag === "New" && !inRun && !known) yield* CaptureMetrics.arrived(record.at)
  }
  // The difference that passed it left it out: it may be deleted by now.
  if (place === "late") return known ? chat : uncheckedDownTo(chat, record.id)
  if (tag === "Edited" || place !== "next") return chat
  return { ...chat, progress: afterPush(chat.progress, record.id, new Date(record.at * 1000)) }
})

/** Stores a change of a chat; false where its chat is not known, so that nothing may pass it. */
export const storeChange = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chats: Chats,
  change: ChatChange,
  options: ChangeOptions
) {
  if (change._tag === "Other") return true
  if (change._tag === "Deleted") {
    // Beyond a gap it waits: the message may not be archived yet, and the difference names it again.
    if (options.place !== "beyond") yield* storeDeletion(account, archive, change.chatId, change.ids)
    return true
  }
  const { _tag: tag, message } = change
  const chat = chats.get(message.chatId)
  if (chat === undefined) return false
  const after = isSaved(chat)
    ? yield* storeMessage(account, archive, chat, { message, tag }, options)
    : tag === "New"
    ? withoutEdge(chat)
    : chat
  chats.set(chat.chatId, after)
  return true
})
