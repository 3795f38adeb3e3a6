/** Wrong archive passwords in the journal. */
import { Effect } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { Caller } from "../domain/people/Access.ts"
import { ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"

/**
 * Journals that the caller's password was wrong, in a transaction of its own, and whether the public key is unproven: the
 * right password does not open another key.
 */
export const journalWrongPassword = Effect.fnUntraced(function*(caller: Caller["Service"]) {
  const { organizationId } = caller
  const db = yield* Db
  const journal = yield* Journal
  const keys = yield* ArchiveKeys
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const isProven = yield* Effect.isSuccess(keys.sealing(organizationId))
      const details = isProven ? {} : { key: "unproven" }
      const target = { targetId: organizationId, outcome: "refused", details } as const
      const entry = journalEntry(Actor.caller(caller), caller, journalAction("archive_password.failed"), target)
      yield* journal.append(organizationId, entry)
    })
  )
})
