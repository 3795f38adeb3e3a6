/** The steps of an operation that changes an account on the messenger. */
import type { Effect } from "effect"
import type { ChangeFailure, ChangeResult } from "../../changes/Intent.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { CheckResult, GuardedContext, MessengerContext, NeededChange, Unchanged } from "../Context.ts"

/**
 * The steps of an operation, in their order; each but `act` and `answer` may run more than once. `check` plans `Q` by
 * what is stored, and `look` plans `P` by what the messenger has; without `look` they are the same. The last parameters
 * are the services of each step.
 */
export interface Steps<
  I,
  Q,
  P,
  S,
  A,
  E,
  Check,
  Look = Check,
  Lock = Check,
  Prepare = Check,
  Act = Check,
  Settle = Check,
  Failed = Check,
  Answer = Check
> {
  /** True if it goes on where the account cannot be reached: every call to the messenger fails then as opening did. */
  readonly unreached?: boolean
  /** Takes the locks that come before the account's, in the transaction of the outcome. */
  lock?(context: GuardedContext): Effect.Effect<void, never, Lock>
  /** Plans the work by what is stored: before the account is held, and again once it is locked. */
  check(input: I, context: GuardedContext): Effect.Effect<CheckResult<Q, A, Check>, E, Check>
  /** Plans the work by what the messenger has now. */
  look?(plan: Q, context: MessengerContext): Effect.Effect<NeededChange<P> | Unchanged<A>, E, Look>
  /** The intent's details. */
  intent(plan: P): Intent
  /** Stores what has to be known before the messenger is called, in the transaction of the intent. */
  prepare?(plan: P, intent: number, context: GuardedContext): Effect.Effect<void, never, Prepare>
  /** Changes the messenger, outside any transaction. */
  act(plan: P, context: MessengerContext): Effect.Effect<S, E, Act>
  /** Writes down what follows, in the transaction of the outcome. */
  settle(plan: P, result: S, context: GuardedContext): Effect.Effect<ChangeResult, never, Settle>
  /**
   * Writes down what follows where the change failed, in the transaction of the outcome; where it is not certain the
   * messenger may have changed all the same.
   */
  failed?(plan: P, failure: ChangeFailure, context: GuardedContext): Effect.Effect<void, never, Failed>
  /** The answer to the caller, with everything written. */
  answer(plan: P, result: S, context: MessengerContext): Effect.Effect<A, E, Answer>
}

export interface Intent {
  readonly details: JournalDetails
  readonly targetId?: string
}
