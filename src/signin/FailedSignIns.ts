/**
 * Wrong console passwords: kept immediately, for addresses that are no admin's by the same statement, so that neither
 * the answer nor its time tells which are; the background journals the first, a burst, and then one event an hour.
 */
import { Effect } from "effect"
import { external } from "../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import { freePasswordFailures, passwordFailuresJournaled } from "../domain/Limits.ts"
import { before, now } from "../domain/Moments.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import type { AdminRef } from "../ports/signin/ConsolePasswords.ts"
import { FailedPasswords } from "../ports/signin/FailedPasswords.ts"

/** Journals the admin's failures that have not been journaled; within the organization's transaction. */
export const flush = Effect.fnUntraced(function*(admin: AdminRef, at: Date) {
  const failed = yield* FailedPasswords
  const row = yield* failed.lock(admin)
  if (row === null) return
  const { addresses, burst, failures, journaled_at, request_id: requestId, since } = row
  yield* (yield* Journal).append(
    admin.organizationId,
    journalEntry(external, { ...row, requestId }, journalAction("console_password.failed"), {
      targetId: admin.adminId,
      outcome: "refused",
      details: { failures, addresses, since: since.toISOString() }
    })
  )
  const lately = journaled_at !== null && journaled_at > before(at, passwordFailuresJournaled)
  yield* failed.setJournaled(admin, at, failures >= freePasswordFailures || lately && burst)
})

/** Journals the first failure of an hour, a burst of them, and others once an hour; forgets the ones that are over. */
export const sweep = Effect.gen(function*() {
  const db = yield* Db
  const failed = yield* FailedPasswords
  const at = yield* now
  const earliest = before(at, passwordFailuresJournaled)
  for (const admin of yield* failed.due(earliest)) yield* db.transaction(admin.organizationId, flush(admin, at))
  yield* failed.forget(earliest)
})
