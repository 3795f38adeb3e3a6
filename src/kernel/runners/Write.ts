/** Operations that change the database. */
import { Clock, Effect } from "effect"
import * as Changes from "../../changes/Record.ts"
import type { JournalAction } from "../../domain/journal/JournalEntry.ts"
import { Caller } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { Outcome, RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { KeepAnswer } from "../Idempotency.ts"
import { targetOf } from "../Journaling.ts"
import type { JournalRefusals, Note } from "../RefusedEntries.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Runs in one transaction with its journal entries: no change without an entry, no entry without a change. */
export const runWrite = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  journaled: JournalAction,
  run: (input: I, context: RequestContext) => Effect.Effect<Outcome<A>, E, R>,
  journalRefusals: JournalRefusals
) => {
  const change = Effect.fnUntraced(function*(
    input: I,
    caller: Caller["Service"],
    now: Date,
    note: Note,
    keep: KeepAnswer | undefined
  ) {
    const account = yield* resolve(caller, input, true)
    const context = { caller, now, account }
    note.reached = context
    const outcome = yield* run(input, context)
    if (keep !== undefined) yield* keep(outcome.answer)
    if (outcome.changed) {
      const target = targetOf(journaled, context, outcome.target)
      const author = Changes.byCaller(caller)
      yield* Changes.record(author, journaled, target, outcome.details, outcome.mails)
      yield* Changes.recordAll(author, outcome.more)
    }
    return outcome.answer
  })

  return Effect.fnUntraced(function*(input: I, keep?: KeepAnswer) {
    const caller = yield* Caller
    const db = yield* Db
    const now = new Date(yield* Clock.currentTimeMillis)
    const note: Note = { reached: undefined }
    return yield* journalRefusals(input, note)(
      db.transaction(caller.organizationId, change(input, caller, now, note, keep))
    )
  }) satisfies Work<"write", R>
}
