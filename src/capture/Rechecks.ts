/** Answers that a run asks for again: history that was hidden may be shown by now. */
import { Duration, Effect } from "effect"
import { type CapturedChat, isOfCommonBox, isSaved, uncheckedFrom } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { afterWaits, commitRead, consult, exclusively } from "./CaptureSteps.ts"
import type { Pacer } from "./Pacer.ts"
import { unlessRefused } from "./RefusedChats.ts"
import { askPage, storePage } from "./StoredPages.ts"

/** A channel's floor is asked for again after this. */
const floorTime = Duration.days(7)

const isOld = ({ floorAt }: CapturedChat, at: Date): boolean =>
  floorAt !== null && at.getTime() - floorAt.getTime() > Duration.toMillis(floorTime)

/** A channel whose floor is a week old. */
export const hasOldFloor = (chat: CapturedChat, at: Date): boolean =>
  isSaved(chat) && !isOfCommonBox(chat.chatId) && chat.progress.floor !== null && isOld(chat, at)

/** Asks below the chat's floor; what is answered there was hidden, and all below is compared. */
const askBelowFloor = Effect.fnUntraced(function*(run: ClaimedRun, chatId: bigint, reader: ChatReader) {
  const store = yield* CaptureStore
  const [chat] = yield* consult(run, store.chats(run, [chatId]))
  if (chat === undefined || !isSaved(chat) || chat.progress.floor === null) return
  const page = yield* askPage(chat, chat.progress.floor, reader)
  yield* commitRead(run, run, store.chats(run, [chatId]), (archive, [known]) => {
    if (known === undefined || page.messages.length === 0) return storePage(run, archive, known, page)
    const shown = uncheckedFrom({ ...known, progress: { ...known.progress, floor: null } }, null)
    return storePage(run, archive, { ...shown, floorAt: null }, page)
  })
})

/** Asks below the floors of channels that are a week old; true where there are any. */
export const askAgain = Effect.fnUntraced(function*(
  run: ClaimedRun,
  { pacer, reader }: { readonly pacer: Pacer; readonly reader: ChatReader },
  chats: ReadonlyArray<CapturedChat>
) {
  const at = yield* now
  const old = chats.filter((chat) => hasOldFloor(chat, at))
  for (const { chatId } of old) {
    yield* pacer.take
    yield* unlessRefused(run, run, chatId, afterWaits(exclusively(run, askBelowFloor(run, chatId, reader))))
  }
  return old.length > 0
})
