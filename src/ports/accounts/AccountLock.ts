/** One actor on an account at a time: polls of the engine, and operations that change the account on the messenger. */
import { Context, type Effect, Schema, type Scope } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { MessengerUnavailable, ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/**
 * An account that no other request or poll acts on while it is held; each holding has a higher fence than all before
 * it.
 */
export interface LockedAccountRef {
  readonly organizationId: OrganizationId
  readonly accountId: AccountId
  readonly fence: number
  /** The number of changes, when it was taken, to what a poll relies on. */
  readonly epoch: number
}

/** The holding has expired and another one has the account: nothing more may be written under it. */
export class AccountLockLost extends Schema.TaggedError<AccountLockLost>()("GuardLost", {}) {}

/** Holds accounts for 20 seconds at a time, in one process or many. */
export class AccountLock extends Context.Service<AccountLock, {
  /**
   * Takes the account for as long as the scope is open, and keeps renewing the hold; waits up to 8 seconds for
   * whichever process has it. Not within a transaction.
   */
  acquire(
    organizationId: OrganizationId,
    accountId: AccountId
  ): Effect.Effect<LockedAccountRef, MessengerUnavailable | ServiceUnavailable, Scope.Scope>
  /** Holds on, within each transaction of the holder: right after the account's row is locked. Answers the epoch. */
  confirm(held: LockedAccountRef): Effect.Effect<number, AccountLockLost>
  /** Gives the account back as it is; for an account that was not taken by `acquire`. */
  release(held: LockedAccountRef): Effect.Effect<void>
  /** Has the account polled as soon as it is free, within the transaction: what a poll relies on has changed. */
  look(organizationId: OrganizationId, accountId: AccountId, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/accounts/AccountLock") {}
