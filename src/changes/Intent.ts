/**
 * A change outside the database: its intent is journaled before it and its outcome after it, each in a transaction of
 * its own. The sweep closes an intent that a crash has left open; if the outcome is known all the same, another intent
 * names that one.
 */
import { Effect, Exit, Predicate } from "effect"
import type { JournalDetails, JournalOutcome } from "../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { type Action, type Author, entryOf, type FurtherEntry, recordAll, type Target } from "./Record.ts"

/** The common part of an intent and its outcome. */
export interface IntentEntry {
  readonly author: Author
  readonly action: Action
  readonly target: Target
  readonly details: JournalDetails
}

const journalIntent = Effect.fnUntraced(function*({ action, author, details, target }: IntentEntry) {
  const journal = yield* Journal
  return (yield* journal.begin(author.organizationId, entryOf(author, action, target, "pending", details))).sequence
})

const retrying = (entry: IntentEntry, retries: number): IntentEntry => ({
  ...entry,
  details: { ...entry.details, retries }
})

/** Journals the intent; that of an earlier try goes on while it is open. Returns its sequence. */
export const begin = Effect.fnUntraced(function*(entry: IntentEntry, earlier: number | null) {
  const journal = yield* Journal
  if (earlier === null) return yield* journalIntent(entry)
  return (yield* journal.renew(entry.author.organizationId, earlier))
    ? earlier
    : yield* journalIntent(retrying(entry, earlier))
})

const journalOutcome = ({ action, author, details, target }: IntentEntry, intent: number, outcome: JournalOutcome) =>
  Journal.use((journal) =>
    journal.close(author.organizationId, intent, entryOf(author, action, target, outcome, details, intent))
  )

/**
 * Journals the outcome of the intent. Where the sweep was first, a change that was made is journaled by another intent,
 * and one that failed only if `again` is true; otherwise it returns false.
 */
export const close = Effect.fnUntraced(function*(
  entry: IntentEntry,
  intent: number,
  outcome: JournalOutcome,
  again = false
) {
  if (yield* journalOutcome(entry, intent, outcome)) return true
  if (outcome !== "done" && !again) return false
  const second = retrying(entry, intent)
  return yield* journalOutcome(second, yield* journalIntent(second), outcome)
})

/** The failure of a change, for its outcome. */
export type ChangeFailure = {
  /** The code, or `interrupted`. */
  readonly error: string
  /** True if certainly nothing has changed. */
  readonly certain: boolean
}

const uncertain = new Set(["interrupted", "messenger_unavailable", "PlatformUnavailable"])

const failureOf = (exit: Exit.Failure<unknown, unknown>): ChangeFailure => {
  const failure = Exit.findErrorOption(exit)
  const error = failure._tag === "Some" && Predicate.hasProperty(failure.value, "_tag")
    ? String(failure.value._tag)
    : "interrupted"
  return { error, certain: !uncertain.has(error) }
}

/** The result of a change. */
export interface ChangeResult {
  /** By default `done`, or `failed` where it failed. */
  readonly outcome?: "done" | "failed"
  /** In addition to the intent's details. */
  readonly details?: JournalDetails
  readonly more?: ReadonlyArray<FurtherEntry>
}

/** A change that is to be made; `earlier` is the intent of a try before. */
interface PlannedChange<C> {
  readonly entry: IntentEntry
  readonly earlier?: number | null
  readonly context: C
}

/** Nothing is to be changed. */
interface NoChange<A> {
  readonly entry: null
  readonly answer: A
}

/** The steps of a change, in their order. */
interface Change<A, C, S, T, E, FirstE, LastE, Entry, Prepare, Act, Apply, Undo> {
  readonly organizationId: OrganizationId
  /** Takes the locks and plans the change, in the transaction of the intent. */
  readonly entry: Effect.Effect<PlannedChange<C> | NoChange<A>, FirstE, Entry>
  /** Stores what has to be known before the change, in the transaction of the intent. */
  readonly prepare: (intent: number, context: C) => Effect.Effect<void, never, Prepare>
  /** Makes the change, outside any transaction. */
  readonly act: (context: C) => Effect.Effect<S, E, Act>
  /** Takes the locks and writes down what follows, in the transaction of the outcome. */
  readonly apply: (result: S, context: C) => Effect.Effect<T, LastE, Apply>
  /** Does so where the change failed; where that is not certain, it may have been made all the same. */
  readonly undo: (failure: ChangeFailure, context: C) => Effect.Effect<T, LastE, Undo>
  /** True if a failure too is journaled where the sweep was first. */
  readonly again?: boolean
}

/** Makes a change between its intent and its outcome, and returns its exit and what was written down of it. */
export const run = Effect.fnUntraced(
  function*<A, C, S, T extends ChangeResult, E, FirstE, LastE, Entry, Prepare, Act, Apply, Undo>(
    change: Change<A, C, S, T, E, FirstE, LastE, Entry, Prepare, Act, Apply, Undo>
  ) {
    const { act, again, apply, organizationId, undo } = change
    const db = yield* Db
    const first = yield* db.transaction(
      organizationId,
      Effect.gen(function*() {
        const wanted = yield* change.entry
        if (wanted.entry === null) return wanted
        const intent = yield* begin(wanted.entry, wanted.earlier ?? null)
        yield* change.prepare(intent, wanted.context)
        return { ...wanted, intent }
      })
    )
    if (first.entry === null) return first
    const { context, entry, intent } = first
    const exit = yield* Effect.exit(act(context))
    const settled = yield* db.transaction(
      organizationId,
      Effect.gen(function*() {
        const settled = yield* Exit.isSuccess(exit) ? apply(exit.value, context) : undo(failureOf(exit), context)
        const { details, more, outcome = Exit.isSuccess(exit) ? "done" : "failed" } = settled
        yield* close({ ...entry, details: { ...entry.details, ...details } }, intent, outcome, again)
        yield* recordAll(entry.author, more)
        return settled
      })
    )
    return { ...first, exit, settled }
  }
)
