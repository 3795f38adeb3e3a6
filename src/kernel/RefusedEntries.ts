/** A destructive operation that was refused leaves an entry, once the caller was found to have access to its object. */
import { Effect, Exit, Predicate } from "effect"
import { byCaller, entryOf } from "../changes/Record.ts"
import type { FailureClass } from "../domain/Failure.ts"
import type { JournalAction } from "../domain/journal/JournalEntry.ts"
import { Journal } from "../ports/journal/Journal.ts"
import type { RequestContext } from "./Context.ts"
import type { Declaration } from "./Contract.ts"
import { targetOf } from "./Journaling.ts"

/** The parts of the context that an entry contains. */
type RefusalContext = Pick<RequestContext, "account" | "caller">

/** The note of a runner that the object was found, which it forgets once the journal knows of the request. */
export interface Note {
  reached: RefusalContext | undefined
}

/**
 * Journals how the work was refused; whatever keeps the journal from it, the caller is answered the work's own failure.
 */
export type JournalRefusals = (
  input: object,
  note: Note
) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Journal>

/** The codes of what was checked and refused; a request that is repeated too early or with other content was not. */
const codesOf = (failures: ReadonlyArray<FailureClass>): ReadonlyMap<unknown, string> =>
  new Map(
    failures.filter(({ identifier, status }) =>
      (status === 400 || status === 409) && !identifier.startsWith("idempotency_")
    ).map(({ identifier }) => [identifier, identifier])
  )

/** The journaling of the operation's refusals: those of a destructive one, each by itself after the rollback. */
export const journalRefusals = (
  { destructive, params }: Pick<Declaration, "destructive" | "params">,
  journaled: JournalAction | undefined,
  failures: ReadonlyArray<FailureClass>
): JournalRefusals => {
  if (!destructive || journaled === undefined) return () => (work) => work
  const codes = codesOf(failures)
  const named = Object.keys(params).findLast((name) => name !== "account_id")
  return (input, note) =>
    Effect.onExit((exit) => {
      const failure = Exit.findErrorOption(exit)
      const code = failure._tag === "Some"
        ? codes.get(Predicate.hasProperty(failure.value, "_tag") ? failure.value._tag : undefined)
        : undefined
      const { reached } = note
      if (code === undefined || reached === undefined) return Effect.void
      const { caller } = reached
      const target = named === undefined || journaled.target === "account" ? undefined : Object.entries(input)
        .find(([name]) => name === named)?.[1]
      const object = targetOf(journaled, reached, typeof target === "string" ? target : undefined)
      const refused = entryOf(byCaller(caller), journaled, object, "refused", { code })
      return Effect.flatMap(
        Journal,
        (journal) => journal.refuse(caller.organizationId, caller.credential.id, refused)
      ).pipe(Effect.catchCause((cause) => Effect.logError("A refusal was not journaled", cause)))
    })
}
