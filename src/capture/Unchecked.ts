/** Comparing again after changes of a box were lost. */
import { Context, Duration, Effect } from "effect"
import { afterLoss } from "../domain/archive/CapturedChat.ts"
import { defaultComparedDays } from "../domain/Limits.ts"
import { before, now } from "../domain/Moments.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"

/** Messages that are older than this, seen from the loss, are not compared again; null for all. */
export const ComparedAge = Context.Reference<Duration.Duration | null>(
  "org-security-console/capture/Unchecked/ComparedAge",
  { defaultValue: () => Duration.days(defaultComparedDays) }
)

/** The ids of chats from which on messages are compared again, by now; all of a chat without recent ones are old. */
export const recentFrom = Effect.fnUntraced(function*(account: ArchivedAccount, ids: ReadonlyArray<bigint>) {
  const age = yield* ComparedAge
  if (age === null || ids.length === 0) return (_: bigint) => null
  const store = yield* CaptureStore
  const since = before(yield* now, age)
  const first = yield* store.firstSince(account, ids, since)
  const last = new Map((yield* store.chats(account, ids)).map(({ chatId, lastId }) => [chatId, lastId]))
  return (chatId: bigint) => first.get(chatId) ?? last.get(chatId) ?? null
})

/** Changes of the chats were lost: none is covered up to its newest message, and what is archived is compared again. */
export const lose = Effect.fnUntraced(function*(account: ArchivedAccount, isLost: (chatId: bigint) => boolean) {
  const store = yield* CaptureStore
  const chats = (yield* store.chats(account, null)).filter(({ chatId }) => isLost(chatId))
  const recent = yield* recentFrom(account, chats.map(({ chatId }) => chatId))
  for (const chat of chats) yield* store.keep(account, afterLoss(chat, recent(chat.chatId)))
})
