/** Wrong archive passwords in the journal. */
import { Effect } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { Caller } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"

/** Journals that the caller's password was wrong, in a transaction of its own. */
export const journalWrongPassword = Effect.fnUntraced(function*(caller: Caller["Service"]) {
  const journal = yield* Journal
  const target = { targetId: caller.organizationId, outcome: "refused" } as const
  const entry = journalEntry(Actor.caller(caller), caller, journalAction("archive_password.failed"), target)
  yield* (yield* Db).transaction(caller.organizationId, journal.append(caller.organizationId, entry))
})
