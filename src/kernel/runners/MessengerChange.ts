/** Operations that change an account on the messenger, or must not overlap with what does. */
import { Clock, Effect, Exit } from "effect"
import { MessengerUnavailable } from "../../domain/Failure.ts"
import type { JournalAction } from "../../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import { SessionRef } from "../../domain/messenger/Messenger.ts"
import { Caller } from "../../domain/people/Access.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { olderSession } from "../../messenger/OlderSession.ts"
import { Guard, GuardLost, type Held } from "../../ports/accounts/AccountLock.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import type { GuardedContext, MessengerContext, Planned, RequestContext, Settled, Stored } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { KeepAnswer } from "../Idempotency.ts"
import * as Journaling from "../Journaling.ts"
import type { JournalRefusals, Note } from "../RefusedEntries.ts"
import type { Resolve, Targeting } from "../Resolve.ts"
import type { ChangeFailure, Steps } from "./MessengerChangeSteps.ts"

const unavailable = Effect.fail(new MessengerUnavailable({ retry_after: 1 }))

/**
 * A request that lost the account to another process answers that the messenger is unavailable; the sweep closes the
 * intent.
 */
const lostGuard = <A, E, R>(effect: Effect.Effect<A, E | GuardLost, R>) =>
  Effect.catchIf(
    effect,
    (failure): failure is Extract<E | GuardLost, GuardLost> => failure instanceof GuardLost,
    () => unavailable
  )

/** One run of an operation: its steps, the caller, and what they share. */
interface Run<I, P, S, A, E, R> {
  readonly steps: Steps<I, P, S, A, E, R>
  readonly resolve: Resolve
  readonly declared: JournalAction
  readonly input: I
  readonly note: Note
  readonly caller: Caller["Service"]
  /**
   * Keeps the answer within the transaction that is open; what was done stays done where the key is another's by now.
   */
  readonly keep: ((answer: A) => Effect.Effect<void>) | undefined
}

/** A change with an intent in the journal: from here on the intent and its outcome record it. */
interface Begun<P> {
  readonly plan: P
  readonly known: GuardedContext
  readonly held: Held
  readonly intent: number
}

/** Checks with the account as it is now, within a transaction; `locked` where its row is locked and it is not held. */
const checked = Effect.fnUntraced(function*<I extends Targeting, P, S, A, E, R>(
  { caller, input, note, resolve, steps }: Run<I, P, S, A, E, R>,
  held: Held | "locked" | null
) {
  const account = yield* resolve(caller, input, held !== null)
  if (account === undefined) return yield* Effect.die(new Error("A guarded operation names its account"))
  if (held !== null && held !== "locked") yield* (yield* Guard).confirm(held)
  const known: GuardedContext = { caller, account, now: new Date(yield* Clock.currentTimeMillis) }
  if (held === null) note.reached = known
  return { known, found: yield* steps.check(input, known) }
})

/** Stores what needs no messenger within the transaction; what is answered is kept with it. */
const store = Effect.fnUntraced(function*<I extends Targeting, P, S, A, E, R>(
  { caller, keep }: Run<I, P, S, A, E, R>,
  known: RequestContext,
  { answer, details, journal: action, targetId, write }: Stored<A, R>
) {
  const journal = yield* Journal
  yield* write
  yield* journal.append(caller.organizationId, Journaling.entry(action, { ...known, targetId }, "done", details))
  if (keep !== undefined) yield* keep(answer)
})

/** Stores a change that needs no call; if by now it does need one, the answer is that the messenger is unavailable. */
const storeOnly = Effect.fnUntraced(function*<I extends Targeting, P, S, A, E, R>(run: Run<I, P, S, A, E, R>) {
  const db = yield* Db
  const stored = yield* db.transaction(
    run.caller.organizationId,
    Effect.gen(function*() {
      const { found, known } = yield* checked(run, "locked")
      if (found.changed === true) return null
      if (found.changed === "stored") yield* store(run, known, found)
      return { answer: found.answer }
    })
  )
  return stored === null ? yield* unavailable : stored.answer
})

/** An entry of the change, with the intent's details. */
const entryOf = <I, P, S, A, E, R>(
  { declared, steps }: Run<I, P, S, A, E, R>,
  plan: P,
  known: RequestContext,
  ...rest: OutcomeOf
) => Journaling.entry(declared, { ...known, targetId: steps.intent(plan).targetId }, ...rest)

/**
 * Checks again with the account locked, and journals the intent; if nothing has to change any more, returns the answer.
 */
const begin = Effect.fnUntraced(function*<I extends Targeting, P, S, A, E, R>(
  run: Run<I, P, S, A, E, R>,
  plan: P,
  held: Held
) {
  const db = yield* Db
  const journal = yield* Journal
  const { organizationId } = run.caller
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const { found, known } = yield* checked(run, held)
      if (found.changed === "stored") yield* store(run, known, found)
      if (found.changed !== true) return found
      const { details } = run.steps.intent(plan)
      const { sequence } = yield* journal.begin(organizationId, entryOf(run, plan, known, "pending", details))
      if (run.steps.prepare !== undefined) yield* run.steps.prepare(plan, sequence, known)
      return { changed: true as const, begun: { plan, known, held, intent: sequence } satisfies Begun<P> }
    })
  )
})

/** Closes the intent; where the sweep was first, a new one names it. */
const conclude = Effect.fnUntraced(function*<I, P, S, A, E, R>(
  run: Run<I, P, S, A, E, R>,
  { intent, known, plan }: Begun<P>,
  outcome: "done" | "failed",
  said: JournalDetails
) {
  const journal = yield* Journal
  const { organizationId } = run.caller
  const first = entryOf(run, plan, known, outcome, said, intent)
  if (yield* journal.close(organizationId, intent, first)) return
  const again = { ...said, retries: intent }
  const next = yield* journal.begin(organizationId, entryOf(run, plan, known, "pending", again))
  const second = entryOf(run, plan, known, outcome, again, next.sequence)
  yield* journal.close(organizationId, next.sequence, second)
})

/** Writes down what follows from a failure. */
const failed = <I, P, S, A, E, R>(
  { steps }: Run<I, P, S, A, E, R>,
  plan: P,
  exit: Exit.Failure<unknown, unknown>,
  after: GuardedContext
) => {
  const details = failureOf(exit)
  const written = steps.failed === undefined ? Effect.void : steps.failed(plan, details, after)
  return Effect.as(written, { outcome: "failed" as const, details })
}

/**
 * Writes down what came of the change, with the account as it is after it; what is answered is kept with it, so that
 * nothing whose outcome is written is done again for the same request.
 */
const finish = Effect.fnUntraced(function*<I, P, S, A, E, R>(
  run: Run<I, P, S, A, E, R>,
  begun: Begun<P>,
  exit: Exit.Exit<S, E>,
  live: MessengerContext["live"]
) {
  const accounts = yield* Accounts
  const db = yield* Db
  const guard = yield* Guard
  const { held, known, plan } = begun
  const { organizationId } = run.caller
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      if (run.steps.lock !== undefined) yield* run.steps.lock(known)
      const now = yield* accounts.hold(organizationId, known.account.id)
      yield* guard.confirm(held)
      const after = { ...known, account: now ?? known.account }
      const settled: Settled = Exit.isSuccess(exit)
        ? yield* run.steps.settle(plan, exit.value, after)
        : yield* failed(run, plan, exit, after)
      const { details, more, outcome = "done" } = settled
      const said = { ...run.steps.intent(plan).details, ...details }
      yield* conclude(run, { ...begun, known: after }, outcome, said)
      yield* Journaling.further(run.caller, more)
      if (run.keep === undefined || Exit.isFailure(exit)) return undefined
      const answered = yield* Effect.exit(run.steps.answer(plan, exit.value, { ...known, live }))
      if (Exit.isSuccess(answered)) yield* run.keep(answered.value)
      return answered
    })
  )
})

/** Changes the account that is held; once the intent is written, so is its outcome, even if the client disconnects. */
const change = <I extends Targeting, P, S, A, E, R>(
  run: Run<I, P, S, A, E, R>,
  plan: P,
  held: Held,
  live: MessengerContext["live"]
) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const first = yield* begin(run, plan, held)
      run.note.reached = undefined
      if (first.changed !== true) return first.answer
      const { begun } = first
      const exit = yield* Effect.exit(restore(run.steps.act(plan, { ...begun.known, live })))
      const answered = yield* finish(run, begun, exit, live)
      return yield* answered ?? restore(run.steps.answer(plan, yield* exit, { ...begun.known, live }))
    })
  )

/** Holds the account, reads it through its live session, and changes it where something is still to be changed. */
const hold = Effect.fnUntraced(function*<I extends Targeting, P, S, A, E, R>(
  run: Run<I, P, S, A, E, R>,
  known: GuardedContext,
  first: Planned<P>
) {
  const guard = yield* Guard
  const { id, session_ref } = known.account
  const held = yield* guard.acquire(run.caller.organizationId, id)
  const older = yield* olderSession({ organizationId: run.caller.organizationId, accountId: id }, known.now)
  const opened = Live.open(session_ref === null ? null : SessionRef.make(session_ref), older)
  const live = yield* run.steps.unreached === true
    ? Effect.catch(opened, (failure) => Effect.succeed(Live.failing(failure)))
    : opened
  const looked = run.steps.look === undefined ? first : yield* run.steps.look(first.plan, { ...known, live })
  return looked.changed ? yield* change(run, looked.plan, held, live) : looked.answer
})

/** Runs the steps while nothing else uses the account: an intent before the change and its outcome after it. */
export const runGuarded = <I extends Targeting, P, S, A, E, R>(
  resolve: Resolve,
  declared: JournalAction,
  steps: Steps<I, P, S, A, E, R>,
  journalRefusals: JournalRefusals
) =>
  Effect.fnUntraced(function*(input: I, keep?: KeepAnswer) {
    const note: Note = { reached: undefined }
    let isKept = false
    const kept = keep && ((answer: A) =>
      Effect.andThen(
        Effect.ignore(keep(answer)),
        Effect.sync(() => {
          isKept = true
        })
      ))
    const answer = yield* Effect.gen(function*() {
      const caller = yield* Caller
      const db = yield* Db
      const run: Run<I, P, S, A, E, R> = { steps, resolve, declared, input, note, caller, keep: kept }
      const { found, known } = yield* db.read(caller.organizationId, checked(run, null))
      switch (found.changed) {
        case false:
          return found.answer
        case "stored":
          return yield* storeOnly(run)
        case true:
          return yield* hold(run, known, found)
      }
    }).pipe(Effect.scoped, lostGuard, journalRefusals(input, note))
    if (kept !== undefined && !isKept) {
      const { organizationId } = yield* Caller
      yield* Effect.ignore((yield* Db).transaction(organizationId, kept(answer)))
    }
    return answer
  }) satisfies Work<"guarded", R>

type OutcomeOf = Parameters<typeof Journaling.entry> extends [unknown, unknown, ...infer Rest] ? Rest : never

/** The outcome of a change that did not succeed. */
const failureOf = (exit: Exit.Failure<unknown, unknown>): ChangeFailure => {
  const failure = Exit.findErrorOption(exit)
  const tag = failure._tag === "Some" && typeof failure.value === "object" && failure.value !== null &&
      "_tag" in failure.value
    ? String(failure.value._tag)
    : "interrupted"
  return { error: tag, certain: tag !== "interrupted" && tag !== "messenger_unavailable" }
}
