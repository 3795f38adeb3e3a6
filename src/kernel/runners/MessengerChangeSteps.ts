/** The steps of an operation that changes an account on the messenger. */
import type { Effect } from "effect"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { CheckResult, GuardedContext, MessengerContext, Planned, Settled, Unchanged } from "../Context.ts"

/** The steps of an operation, in their order; each but `act` and `answer` may run more than once. */
export interface Steps<I, P, S, A, E, R> {
  /** True if it goes on where the account cannot be reached: every call to the messenger fails then as opening did. */
  readonly unreached?: boolean
  /** Takes the locks that come before the account's, in the transaction of the outcome. */
  lock?(context: GuardedContext): Effect.Effect<void, never, R>
  /** Plans the work by what is stored: before the account is held, and again once it is locked. */
  check(input: I, context: GuardedContext): Effect.Effect<CheckResult<P, A, R>, E, R>
  /** Plans the work by what the messenger has now. */
  look?(plan: P, context: MessengerContext): Effect.Effect<Planned<P> | Unchanged<A>, E, R>
  /** The intent's details. */
  intent(plan: P): Intent
  /** Stores what has to be known before the messenger is called, in the transaction of the intent. */
  prepare?(plan: P, intent: number, context: GuardedContext): Effect.Effect<void, never, R>
  /** Changes the messenger, outside any transaction. */
  act(plan: P, context: MessengerContext): Effect.Effect<S, E, R>
  /** Writes down what follows, in the transaction of the outcome. */
  settle(plan: P, result: S, context: GuardedContext): Effect.Effect<Settled, never, R>
  /**
   * Writes down what follows where the change failed, in the transaction of the outcome; where it is not certain the
   * messenger may have changed all the same.
   */
  failed?(plan: P, failure: ChangeFailure, context: GuardedContext): Effect.Effect<void, never, R>
  /** The answer to the caller, with everything written. */
  answer(plan: P, result: S, context: MessengerContext): Effect.Effect<A, E, R>
}

/** The failure of a change, for its outcome. */
export type ChangeFailure = {
  /** The code, or `interrupted`. */
  readonly error: string
  /** True if the messenger has certainly not changed. */
  readonly certain: boolean
}

export interface Intent {
  readonly details: JournalDetails
  readonly targetId?: string
}
