/** Steps of capture: each stores what was seen, and moves what is promised of it, in one transaction. */
import { Duration, Effect } from "effect"
import { afterPage, afterPush, type NextPage } from "../domain/archive/ChatProgress.ts"
import { select, type Selection } from "../domain/archive/RuleSelection.ts"
import { now } from "../domain/Moments.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import { ArchiveRuns, type ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { type CapturedChat, CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import type { ChatChange, ChatSeen, MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Organizations } from "../ports/organization/Organizations.ts"
import { captureStop, CaptureStopped } from "./CaptureStop.ts"
import { OpenArchives } from "./OpenArchives.ts"
import { chatRecord, messageRecord } from "./SeenRecords.ts"

/** A claim lasts so long after each step. */
export const claimTime = Duration.minutes(2)

/** Ends where this process may not write the account now, or nothing of it is to be saved. */
const allowed = Effect.fnUntraced(function*(account: ArchivedAccount, claimed: ClaimedRun | null) {
  const ownership = yield* Ownership
  if (ownership.current() === null) return yield* new CaptureStopped({ reason: "not_owned" })
  const facts = yield* (yield* Accounts).hold(account.organizationId, account.accountId)
  if (facts === null) return yield* new CaptureStopped({ reason: "retired" })
  const organization = yield* (yield* Organizations).facts({ ...account, arrival: undefined })
  const at = yield* now
  const reason = captureStop(facts, organization, at)
  if (reason !== null) return yield* new CaptureStopped({ reason })
  if (claimed === null) return facts
  const until = new Date(at.getTime() + Duration.toMillis(claimTime))
  if (!(yield* (yield* ArchiveRuns).renew(claimed, until))) return yield* new CaptureStopped({ reason: "claim_lost" })
  return facts
})

/** Runs a step in a transaction of its own, where it is allowed by then. */
export const commit = <A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  work: (archive: AccountArchive) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    OpenArchives,
    (archives) =>
      archives.step(account, (archive) =>
        Effect.flatMap(Db, (db) =>
          db.transaction(account.organizationId, Effect.andThen(allowed(account, claimed), work(archive)))))
  )

/** Reads in a transaction of its own, where saving is allowed. */
export const consult = <A, E, R>(account: ArchivedAccount, claimed: ClaimedRun | null, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Db, (db) => db.transaction(account.organizationId, Effect.andThen(allowed(account, claimed), work)))

/** Keeps chats as they were seen: of those that are skipped nothing but id and type. */
export const seeChats = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chats: ReadonlyArray<ChatSeen>
) {
  const store = yield* CaptureStore
  const at = yield* now
  const rules = yield* (yield* ArchiveRules).inEffect(account)
  const predecessors = new Map<bigint, Selection>()
  const judge = (chat: ChatSeen) =>
    select(rules, { chatId: chat.chatId, type: chat.type, predecessor: predecessors.get(chat.chatId) ?? null })
  for (const chat of chats) {
    if (chat.migratedTo !== null) predecessors.set(chat.migratedTo, judge(chat))
  }
  for (const chat of chats) {
    const selection = judge(chat)
    yield* store.see(account, chat, selection)
    if (selection.effect !== "skip") yield* archive.see(chatRecord(chat, at))
  }
})

const isSaved = (chat: CapturedChat | undefined): chat is CapturedChat =>
  chat !== undefined && chat.effect === "archive" && !chat.stopped

/** Stores a page of a chat's history, with what it promises; ids of its range that it lacks are gone. */
export const storePage = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chatId: bigint,
  page: NextPage,
  messages: ReadonlyArray<MessageSeen>
) {
  const store = yield* CaptureStore
  const records = yield* ArchiveRecords
  const [chat] = yield* store.chats(account, [chatId])
  if (!isSaved(chat)) return
  const ids = messages.map(({ record }) => record.id)
  const sorted = [...ids].sort((one, other) => one < other ? -1 : 1)
  const [low] = sorted
  const high = page.below === null ? sorted.at(-1) : page.below - 1n
  if (low !== undefined && high !== undefined) {
    const answered = new Set(ids)
    const stored = yield* records.between(account, chatId, low, high)
    const absent = stored.filter((id) => !answered.has(id))
    if (absent.length > 0) yield* archive.mark(chatId, absent, "absent", "sweep")
  }
  const seen = yield* Effect.forEach(messages, (message) => messageRecord(account, message))
  if (seen.length > 0) yield* archive.append(chatId, seen, "sweep")
  const progress = afterPage(chat.progress, { ...page, ids, lastKnown: chat.lastId })
  yield* store.promise(account, chatId, progress, ids.length === 0 ? yield* now : null)
})

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

/**
 * Stores a change of a chat. `promised` is false for what came late or beyond a gap: its content is stored, and nothing
 * is promised by it.
 */
export const storeChange = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  change: ChatChange,
  promised: boolean
) {
  const store = yield* CaptureStore
  if (change._tag === "Other") return
  if (change._tag === "Deleted") return yield* storeDeletion(account, archive, change.chatId, change.ids)
  const { chatId, record } = change.message
  const [chat] = yield* store.chats(account, [chatId])
  if (!isSaved(chat)) return
  if (change._tag === "New" && !chat.live) {
    // The nightly run finds it: the chat is no longer covered up to its newest message.
    return yield* store.promise(account, chatId, { ...chat.progress, edge: null }, null)
  }
  yield* archive.append(chatId, [yield* messageRecord(account, change.message)], "live")
  if (change._tag === "New" && promised) {
    yield* store.promise(account, chatId, afterPush(chat.progress, record.id), null)
  }
})
