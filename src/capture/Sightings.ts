/** Chats as they were seen, judged by the rules and kept. */
import { Duration, Effect } from "effect"
import {
  afterSelection,
  afterSighting,
  type CapturedChat,
  isSameChat,
  isSaved
} from "../domain/archive/CapturedChat.ts"
import { select, type Selection } from "../domain/archive/RuleSelection.ts"
import { now } from "../domain/Moments.ts"
import { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import { ArchiveRuns } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive, SeenChat } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatSeen } from "../ports/messenger/MessengerArchive.ts"
import { chatRecord } from "./SeenRecords.ts"
import { recentFrom } from "./Unchecked.ts"

/** A run for new chats begins after this, so that one run serves several of them. */
const gatheringTime = Duration.seconds(30)

type Judge = (chat: Pick<CapturedChat, "chatId" | "type">) => Selection

/** The stored facts of the chats, of those that they continue, and of the rules. */
export const readKnown = Effect.fnUntraced(function*(account: ArchivedAccount, chats: ReadonlyArray<ChatSeen>) {
  const store = yield* CaptureStore
  const rules = yield* ArchiveRules
  const ids = chats.map(({ chatId }) => chatId)
  return yield* Effect.all({
    rules: rules.inEffect(account),
    predecessors: store.predecessors(account, [...ids, ...chats.flatMap(({ migratedTo }) => migratedTo ?? [])]),
    known: store.chats(account, ids)
  }, { concurrency: "unbounded" })
})

type Known = Effect.Success<ReturnType<typeof readKnown>>

/** The rules' decisions; a chat that continues another one is judged like it. */
const judgeOf = (
  { predecessors, rules }: Known,
  chats: ReadonlyArray<ChatSeen>
): Judge => {
  const before = new Map<bigint, Selection>()
  for (const chat of [...predecessors, ...chats]) {
    if (chat.migratedTo !== null) before.set(chat.migratedTo, select(rules, { ...chat, predecessor: null }))
  }
  return ({ chatId, type }) => select(rules, { chatId, type, predecessor: before.get(chatId) ?? null })
}

/** Judges chats again whose predecessor became known after them. */
const judgeSuccessors = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  judge: Judge,
  ids: ReadonlyArray<bigint>
) {
  const store = yield* CaptureStore
  for (const chat of yield* store.chats(account, ids)) yield* store.see(account, afterSelection(chat, judge(chat)))
})

/** Keeps chats as they were seen, where what is stored of them may be read before: of those that are skipped nothing but id and type. */
export const seeChats = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chats: ReadonlyArray<ChatSeen>,
  read?: Known
) {
  if (chats.length === 0) return
  const store = yield* CaptureStore
  const at = yield* now
  const stored = read ?? (yield* readKnown(account, chats))
  const judge = judgeOf(stored, chats)
  const known = new Map(stored.known.map((chat) => [chat.chatId, chat]))
  const found = chats.filter(({ chatId, position }) => position !== null && known.get(chatId)?.position === null)
  const recent = yield* recentFrom(account, found.map(({ chatId }) => chatId))
  let isNew = false
  const shown = new Map<bigint, SeenChat>()
  for (const chat of chats) {
    const before = known.get(chat.chatId) ?? null
    const after = afterSighting(before, chat, judge(chat), at, recent(chat.chatId))
    isNew ||= before === null && isSaved(after)
    known.set(chat.chatId, after)
    if (before === null || !isSameChat(before, after)) yield* store.see(account, after)
    if (after.effect !== "skip") shown.set(chat.chatId, chatRecord(chat, after.leftAt))
  }
  if (shown.size > 0) yield* archive.see(...shown.values())
  const seen = new Set(chats.map(({ chatId }) => chatId))
  yield* judgeSuccessors(
    account,
    judge,
    chats.flatMap(({ migratedTo }) => migratedTo === null || seen.has(migratedTo) ? [] : [migratedTo])
  )
  const soon = new Date(at.getTime() + Duration.toMillis(gatheringTime))
  if (isNew) yield* (yield* ArchiveRuns).hasten(account, soon)
})
