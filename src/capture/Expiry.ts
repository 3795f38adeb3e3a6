/** Messages whose time has run out: the messenger removes them without an update. */
import { Effect } from "effect"
import { now } from "../domain/Moments.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { commit } from "./CaptureSteps.ts"

/** Messages that one step marks. */
const messagesPerStep = 500

/** Notes the times at which messages that were just stored disappear. */
export const noteExpiry = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  chatId: bigint,
  messages: ReadonlyArray<MessageSeen>
) {
  const expiring = messages.flatMap(({ expiresAt, record: { at, id } }) =>
    expiresAt === null ? [] : [{ id, expiresAt, sentAt: new Date(at * 1000) }]
  )
  if (expiring.length > 0) yield* (yield* CaptureStore).expect(account, chatId, expiring)
})

/** Marks messages that are no longer there; those whose time has run out by that. */
export const markGone = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  archive: AccountArchive,
  chatId: bigint,
  ids: ReadonlyArray<bigint>
) {
  if (ids.length === 0) return
  const expired = yield* (yield* CaptureStore).expired(account, chatId, ids, yield* now)
  yield* archive.mark(chatId, ids.filter((id) => expired.has(id)), "expired", "sweep")
  yield* archive.mark(chatId, ids.filter((id) => !expired.has(id)), "absent", "sweep")
})

/** Marks some messages whose time has run out by now; true where there may be more. */
export const expireSome = Effect.fnUntraced(function*(account: ArchivedAccount, archive: AccountArchive) {
  const due = yield* (yield* CaptureStore).takeExpired(account, yield* now, messagesPerStep)
  for (const [chatId, all] of Map.groupBy(due, ({ chatId }) => chatId)) {
    yield* archive.mark(chatId, all.map(({ id }) => id), "expired", "sweep")
  }
  return due.length === messagesPerStep
})

/** Marks the messages whose time has run out by now. */
export const expire = Effect.fnUntraced(function*(account: ArchivedAccount, claimed: ClaimedRun | null) {
  const step = commit(account, claimed, (archive) => expireSome(account, archive))
  while (yield* step);
})
