/** Operations that change an account on the messenger, or must not overlap with what does. */
import { Clock, Effect, Exit } from "effect"
import { Caller } from "../../domain/Access.ts"
import * as Actor from "../../domain/Actor.ts"
import { MessengerUnavailable } from "../../domain/Failure.ts"
import { type JournalAction, journalEntry } from "../../domain/JournalEntry.ts"
import type { JournalDetails } from "../../domain/JournalEvent.ts"
import { SessionRef } from "../../domain/Messenger.ts"
import { Accounts } from "../../ports/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { Guard, type GuardLost, type Held } from "../../ports/Guard.ts"
import { Journal } from "../../ports/Journal.ts"
import type { Checked, Further, Guarding, Known, Messaging, Planned, Settled, Stored, Unchanged } from "../Context.ts"
import * as Journaling from "../Journaling.ts"
import * as Live from "../Live.ts"
import type { JournalRefusals, Note } from "../Refused.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** The steps of an operation, in their order; each but `act` and `answer` may run more than once. */
export interface Steps<I, P, S, A, E, R> {
  /** What is to be done by what is stored: before the account is held, and again once it is locked. */
  check(input: I, context: Guarding): Effect.Effect<Checked<P, A, R>, E, R>
  /** The same by what the messenger has now. */
  look?(plan: P, context: Messaging): Effect.Effect<Planned<P> | Unchanged<A>, E, R>
  /** What the intent says. */
  intent(plan: P): Intent
  /** Writes down what has to be known before the messenger is asked, in the transaction of the intent. */
  prepare?(plan: P, intent: number, context: Guarding): Effect.Effect<void, never, R>
  /** Changes the messenger, outside any transaction. */
  act(plan: P, context: Messaging): Effect.Effect<S, E, R>
  /** Writes down what follows, in the transaction of the outcome. */
  settle(plan: P, result: S, context: Guarding): Effect.Effect<Settled, never, R>
  /** What the caller is answered, with everything written. */
  answer(plan: P, result: S, context: Messaging): Effect.Effect<A, E, R>
}

export interface Intent {
  readonly details: JournalDetails
  readonly targetId?: string
}

const unavailable = Effect.fail(new MessengerUnavailable({ retry_after: 1 }))

/** Whoever lost the account to another answers that the messenger is not available; the intent is left to the sweep. */
const lostGuard = <A, E, R>(effect: Effect.Effect<A, E | GuardLost, R>) =>
  Effect.catchIf(
    effect,
    (failure): failure is Extract<E | GuardLost, GuardLost> =>
      typeof failure === "object" && failure !== null && "_tag" in failure && failure._tag === "GuardLost",
    () => unavailable
  )

/** Runs the steps: an intent before the change and its outcome after it, with nobody else on the account meanwhile. */
export const runGuarded = <I extends Targeting, P, S, A, E, R>(
  resolve: Resolve,
  declared: JournalAction,
  steps: Steps<I, P, S, A, E, R>,
  journalRefusals: JournalRefusals
) =>
  Effect.fnUntraced(function*(input: I) {
    const note: Note = { reached: undefined }
    return yield* Effect.gen(function*() {
      const accounts = yield* Accounts
      const caller = yield* Caller
      const db = yield* Db
      const guard = yield* Guard
      const journal = yield* Journal
      const { organizationId } = caller

      /** Checks with the account as it is now, within a transaction. */
      const checked = (held: Held | "locked" | null) =>
        Effect.gen(function*() {
          const account = yield* resolve(caller, input, held !== null)
          if (account === undefined) return yield* Effect.die(new Error("A guarded operation names its account"))
          if (held !== null && held !== "locked") yield* guard.confirm(held)
          const known: Guarding = { caller, account, now: new Date(yield* Clock.currentTimeMillis) }
          if (held === null) note.reached = known
          return { known, found: yield* steps.check(input, known) }
        })

      const store = Effect.fnUntraced(
        function*(known: Known, { details, journal: action, targetId, write }: Stored<A, R>) {
          yield* write
          yield* journal.append(organizationId, Journaling.entry(action, { ...known, targetId }, "done", details))
        }
      )

      /** Stores what is only to be stored; null where by now the messenger is to be asked. */
      const storeOnly = db.transaction(
        organizationId,
        Effect.gen(function*() {
          const { found, known } = yield* checked("locked")
          if (found.changed === true) return null
          if (found.changed === "stored") yield* store(known, found)
          return { answer: found.answer }
        })
      )

      const first = yield* db.read(organizationId, checked(null))
      if (first.found.changed === false) return first.found.answer
      if (first.found.changed === "stored") {
        const stored = yield* storeOnly
        return stored === null ? yield* unavailable : stored.answer
      }
      const { account } = first.known
      const held = yield* guard.acquire(organizationId, account.id)
      const live = yield* Live.open(account.session_ref === null ? null : SessionRef.make(account.session_ref))
      const looked = steps.look === undefined
        ? first.found
        : yield* steps.look(first.found.plan, { ...first.known, live })
      if (!looked.changed) return looked.answer
      const { plan } = looked
      const { details, targetId } = steps.intent(plan)
      const entry = (known: Known, ...rest: OutcomeOf) => Journaling.entry(declared, { ...known, targetId }, ...rest)

      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const begun = yield* db.transaction(
            organizationId,
            Effect.gen(function*() {
              const { found, known } = yield* checked(held)
              if (found.changed === "stored") yield* store(known, found)
              if (found.changed !== true) return found
              const { sequence } = yield* journal.begin(organizationId, entry(known, "pending", details))
              if (steps.prepare !== undefined) yield* steps.prepare(plan, sequence, known)
              return { changed: true as const, known, intent: sequence }
            })
          )
          // From here on the intent and its outcome say how it went.
          note.reached = undefined
          if (begun.changed !== true) return begun.answer
          const { intent, known } = begun
          const exit = yield* Effect.exit(restore(steps.act(plan, { ...known, live })))
          yield* db.transaction(
            organizationId,
            Effect.gen(function*() {
              const now = yield* accounts.hold(organizationId, account.id)
              yield* guard.confirm(held)
              const after = { ...known, account: now ?? known.account }
              const settled = Exit.isSuccess(exit)
                ? yield* steps.settle(plan, exit.value, after)
                : { outcome: "failed" as const, details: failureOf(exit) }
              const { details: more, more: events, outcome = "done" } = settled
              yield* conclude(after, intent, outcome, { ...details, ...more })
              yield* further(after, events)
            })
          )
          return yield* restore(steps.answer(plan, yield* exit, { ...known, live }))
        })
      )

      /** Closes the intent; where the sweep was first, a new one names it. */
      function conclude(known: Known, intent: number, outcome: "done" | "failed", said: JournalDetails) {
        return Effect.gen(function*() {
          if (yield* journal.close(organizationId, intent, entry(known, outcome, said, intent))) return
          const again = { ...said, retries: intent }
          const next = yield* journal.begin(organizationId, entry(known, "pending", again))
          yield* journal.close(organizationId, next.sequence, entry(known, outcome, again, next.sequence))
        })
      }

      function further(known: Known, events: ReadonlyArray<Further> = []) {
        return Effect.forEach(
          events,
          ({ journal: what, ...happened }) =>
            journal.append(organizationId, journalEntry(Actor.caller(known.caller), known.caller, what, happened)),
          { discard: true }
        )
      }
    }).pipe(Effect.scoped, lostGuard, journalRefusals(input, note))
  })

type OutcomeOf = Parameters<typeof Journaling.entry> extends [unknown, unknown, ...infer Rest] ? Rest : never

/** What an outcome says of a change that did not succeed. */
const failureOf = (exit: Exit.Failure<unknown, unknown>): JournalDetails => {
  const failure = Exit.findErrorOption(exit)
  const tag = failure._tag === "Some" && typeof failure.value === "object" && failure.value !== null &&
      "_tag" in failure.value
    ? String(failure.value._tag)
    : "interrupted"
  return { error: tag, certain: tag !== "interrupted" && tag !== "messenger_unavailable" }
}
