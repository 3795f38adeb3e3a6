/** Operations that change an account on the messenger, or must not overlap with what does. */
import { Clock, Effect, Exit } from "effect"
import * as Intent from "../../changes/Intent.ts"
import type { ChangeResult } from "../../changes/Intent.ts"
import * as Changes from "../../changes/Record.ts"
import { slotOf } from "../../domain/accounts/Slot.ts"
import { MessengerUnavailable } from "../../domain/Failure.ts"
import type { JournalAction } from "../../domain/journal/JournalEntry.ts"
import { SessionRef } from "../../domain/messenger/Messenger.ts"
import { Caller } from "../../domain/people/Access.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { olderSession } from "../../messenger/OlderSession.ts"
import { AccountLock, AccountLockLost, type LockedAccountRef } from "../../ports/accounts/AccountLock.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import type { GuardedContext, MessengerContext, NeededChange, RequestContext, Stored } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { KeepAnswer } from "../Idempotency.ts"
import { targetOf } from "../Journaling.ts"
import type { JournalRefusals, Note } from "../RefusedEntries.ts"
import type { Resolve, Targeting } from "../Resolve.ts"
import type { Steps } from "./MessengerChangeSteps.ts"

const unavailable = Effect.fail(new MessengerUnavailable({ retry_after: 1 }))

/**
 * A request that lost the account to another process answers that the messenger is unavailable; the sweep closes the
 * intent.
 */
const lostGuard = <A, E, R>(effect: Effect.Effect<A, E | AccountLockLost, R>) =>
  Effect.catchIf(
    effect,
    (failure): failure is Extract<E | AccountLockLost, AccountLockLost> => failure instanceof AccountLockLost,
    () => unavailable
  )

type LookingSteps<I, Q, P, S, A, E, R> = Steps<I, Q, P, S, A, E, R> & Required<Pick<Steps<I, Q, P, S, A, E, R>, "look">>

/** One run of an operation: its steps, the caller, and what they share. */
interface Run<I, Q, P, S, A, E, R> {
  readonly steps: LookingSteps<I, Q, P, S, A, E, R>
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

/** Checks with the account as it is now, within a transaction; `locked` where its row is locked and it is not held. */
const checked = Effect.fnUntraced(function*<I extends Targeting, Q, P, S, A, E, R>(
  { caller, input, note, resolve, steps }: Run<I, Q, P, S, A, E, R>,
  held: LockedAccountRef | "locked" | null
) {
  const account = yield* resolve(caller, input, held !== null)
  if (account === undefined) return yield* Effect.die(new Error("A guarded operation names its account"))
  if (held !== null && held !== "locked") yield* (yield* AccountLock).confirm(held)
  const known: GuardedContext = { caller, account, now: new Date(yield* Clock.currentTimeMillis) }
  if (held === null) note.reached = known
  return { known, found: yield* steps.check(input, known) }
})

/** Stores what needs no messenger within the transaction; what is answered is kept with it. */
const store = Effect.fnUntraced(function*<I extends Targeting, Q, P, S, A, E, R>(
  { caller, keep }: Run<I, Q, P, S, A, E, R>,
  known: RequestContext,
  { answer, details, journal: action, targetId, write }: Stored<A, R>
) {
  yield* write
  yield* Changes.record(Changes.byCaller(caller), action, targetOf(action, known, targetId), details)
  if (keep !== undefined) yield* keep(answer)
})

/** Stores a change that needs no call; if by now it does need one, the answer is that the messenger is unavailable. */
const storeOnly = Effect.fnUntraced(function*<I extends Targeting, Q, P, S, A, E, R>(run: Run<I, Q, P, S, A, E, R>) {
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

/** Checks again with the account locked, and plans the entry; returns the answer if nothing has to change any more. */
const planEntry = Effect.fnUntraced(function*<I extends Targeting, Q, P, S, A, E, R>(
  run: Run<I, Q, P, S, A, E, R>,
  plan: P,
  held: LockedAccountRef
) {
  const { found, known } = yield* checked(run, held)
  if (found.changed === "stored") yield* store(run, known, found)
  if (found.changed !== true) return { entry: null, answer: found.answer }
  const { details, targetId } = run.steps.intent(plan)
  const target = targetOf(run.declared, known, targetId)
  return { entry: { author: Changes.byCaller(run.caller), action: run.declared, target, details }, context: known }
})

/** Locks the account for the outcome, and returns it as it is after the change. */
const lockAgain = Effect.fnUntraced(function*<I, Q, P, S, A, E, R>(
  { steps }: Run<I, Q, P, S, A, E, R>,
  held: LockedAccountRef,
  known: GuardedContext
) {
  const accounts = yield* Accounts
  const guard = yield* AccountLock
  if (steps.lock !== undefined) yield* steps.lock(known)
  const account = yield* accounts.hold(held.organizationId, held.accountId)
  yield* guard.confirm(held)
  return account === null ? known : { ...known, account }
})

/** The outcome of a change, with the answer where that is kept with it. */
interface KeptOutcome<A, E> extends ChangeResult {
  readonly answered?: Exit.Exit<A, E>
}

/**
 * Writes down what came of the change; what is answered is kept with it, so that nothing whose outcome is written is
 * done again for the same request.
 */
const settle = Effect.fnUntraced(function*<I, Q, P, S, A, E, R>(
  { keep, steps }: Run<I, Q, P, S, A, E, R>,
  plan: P,
  result: S,
  after: GuardedContext,
  context: MessengerContext
): Effect.fn.Return<KeptOutcome<A, E>, never, R> {
  const settled = yield* steps.settle(plan, result, after)
  if (keep === undefined) return settled
  const answered = yield* Effect.exit(steps.answer(plan, result, context))
  if (Exit.isSuccess(answered)) yield* keep(answered.value)
  return { ...settled, answered }
})

/** Changes the account that is held; once the intent is written, so is its outcome, even if the client disconnects. */
const change = <I extends Targeting, Q, P, S, A, E, R>(
  run: Run<I, Q, P, S, A, E, R>,
  plan: P,
  held: LockedAccountRef,
  live: MessengerContext["live"]
) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { steps } = run
      const made = yield* Intent.run({
        organizationId: held.organizationId,
        again: true,
        entry: planEntry(run, plan, held),
        prepare: (intent, known) => steps.prepare === undefined ? Effect.void : steps.prepare(plan, intent, known),
        act: (known) => restore(steps.act(plan, { ...known, live })),
        apply: (result, known) =>
          Effect.flatMap(lockAgain(run, held, known), (after) => settle(run, plan, result, after, { ...known, live })),
        undo: (failure, known) =>
          Effect.flatMap(lockAgain(run, held, known), (after) =>
            Effect.as(
              steps.failed === undefined ? Effect.void : steps.failed(plan, failure, after),
              { details: failure } satisfies ChangeResult
            ))
      })
      run.note.reached = undefined
      if (made.entry === null) return made.answer
      const { context, exit, settled } = made
      return yield* settled.answered ?? restore(steps.answer(plan, yield* exit, { ...context, live }))
    })
  )

/** Holds the account, reads it through its live session, and changes it where something is still to be changed. */
const hold = Effect.fnUntraced(function*<I extends Targeting, Q, P, S, A, E, R>(
  run: Run<I, Q, P, S, A, E, R>,
  known: GuardedContext,
  { plan }: NeededChange<Q>
) {
  const guard = yield* AccountLock
  const { id, session_ref } = known.account
  const held = yield* guard.acquire(run.caller.organizationId, id)
  const older = yield* olderSession({ organizationId: run.caller.organizationId, accountId: id }, known.now)
  const opened = Live.open(session_ref === null ? null : SessionRef.make(session_ref), slotOf(id), older)
  const live = yield* run.steps.unreached === true
    ? Effect.catch(opened, (failure) => Effect.succeed(Live.failing(failure)))
    : opened
  const looked = yield* run.steps.look(plan, { ...known, live })
  return looked.changed ? yield* change(run, looked.plan, held, live) : looked.answer
})

/** Runs the steps while nothing else uses the account: an intent before the change and its outcome after it. */
export const runGuarded = <I extends Targeting, Q, P, S, A, E, R>(
  resolve: Resolve,
  declared: JournalAction,
  steps: LookingSteps<I, Q, P, S, A, E, R>,
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
      const run: Run<I, Q, P, S, A, E, R> = { steps, resolve, declared, input, note, caller, keep: kept }
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
