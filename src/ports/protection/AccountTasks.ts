/** Changes to an account on the messenger that the background work makes, without a request. */
import { Context, type Effect } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { SecretsOf } from "../security/Secrets.ts"

/**
 * `rotate_two_fa` after a takeover; `cancel_recovery_email` for an unconfirmed address; `pair` again after a failover;
 * `log_out` the sessions of an account that was left.
 */
export type AccountTaskKind = "rotate_two_fa" | "cancel_recovery_email" | "pair" | "log_out"

/** A task that is due. */
export interface AccountTask extends SecretsOf {
  readonly kind: AccountTaskKind
  readonly due_at: Date
  /** The number of times that it was begun before. */
  readonly tries: number
}

/** One task of each kind for an account; within the caller's transaction by default. */
export class AccountTasks extends Context.Service<AccountTasks, {
  /** Has it done from then on; one that waits already is done then instead. */
  add(of: SecretsOf, kind: AccountTaskKind, dueAt: Date): Effect.Effect<void>
  /** The tasks that are due for accounts of the slots, the oldest first; in a transaction of its own. */
  due(slots: ReadonlySet<Slot>, limit: number, now: Date): Effect.Effect<ReadonlyArray<AccountTask>, ServiceUnavailable>
  /**
   * Takes a task, which is due again then unless it is dropped; false if another process has it, in a transaction of
   * its own.
   */
  take(task: AccountTask, until: Date): Effect.Effect<boolean, ServiceUnavailable>
  drop(of: SecretsOf, kind: AccountTaskKind): Effect.Effect<void>
}>()("org-security-console/ports/protection/AccountTasks") {}
