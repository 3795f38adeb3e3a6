/** Operations that open the archive with its password to change what is sealed. */
import { Effect } from "effect"
import * as Changes from "../../changes/Record.ts"
import type { JournalAction } from "../../domain/journal/JournalEntry.ts"
import type { Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import { Db } from "../../ports/Db.ts"
import type { Commit, Outcome, RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import { targetOf } from "../Journaling.ts"
import type { JournalRefusals, Note } from "../RefusedEntries.ts"
import type { Resolve, Targeting } from "../Resolve.ts"
import { opening } from "./Unlocked.ts"

/** Makes the change with its journal entries, in the transaction that is open. */
const change = Effect.fnUntraced(function*<A, E, R>(
  context: RequestContext,
  journaled: JournalAction,
  made: Effect.Effect<Outcome<A>, E, R>
) {
  const outcome = yield* made
  if (outcome.changed) {
    const author = Changes.byCaller(context.caller)
    const target = targetOf(journaled, context, outcome.target)
    yield* Changes.record(author, journaled, target, outcome.details, outcome.mails)
    yield* Changes.recordAll(author, outcome.more)
  }
  return outcome.answer
})

/**
 * Runs with the opened archive, and commits its change with the journal entries in one transaction. It opens and seals
 * before that transaction, so that nobody waits for it.
 */
export const runRewrite = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  journaled: JournalAction,
  run: (
    input: I,
    context: RequestContext & { readonly archive: Unlocked; readonly commit: Commit }
  ) => Effect.Effect<A, E, R>,
  journalRefusals: JournalRefusals
) => {
  const open = opening<I>(resolve)

  const work = Effect.fnUntraced(function*(input: I, note: Note) {
    const db = yield* Db
    const context = yield* open(input)
    note.reached = context
    const commit: Commit = (made) => db.transaction(context.caller.organizationId, change(context, journaled, made))
    return yield* run(input, { ...context, commit })
  })

  return Effect.fnUntraced(function*(input: I) {
    const note: Note = { reached: undefined }
    return yield* journalRefusals(input, note)(work(input, note))
  }, Effect.scoped) satisfies Work<"rewrite", R>
}
