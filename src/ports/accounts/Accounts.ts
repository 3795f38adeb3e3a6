/** Protected accounts. */
import { Context, type Effect } from "effect"
import type {
  AccountFacts,
  AccountId,
  DepartmentId,
  LatestPoll,
  ListedFacts,
  MessengerNames
} from "../../domain/accounts/Account.ts"
import type { AccountStatus } from "../../domain/accounts/ProtectionStatus.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { SessionFacts, Termination } from "../../domain/sessions/Session.ts"

/** A page of accounts in the console's order, one more than `limit` where more follow. */
export interface AccountQuery {
  readonly status: AccountStatus | undefined
  readonly departmentId: DepartmentId | undefined
  readonly after: AccountId | undefined
  readonly limit: number
}

/** An account with what was seen of its devices. */
export interface WatchedAccount {
  readonly facts: AccountFacts
  /** The results of its latest polls. */
  readonly monitor: LatestPoll
  readonly sessions: ReadonlyArray<SessionFacts>
  /** The latest sessions that ended, newest first. */
  readonly terminations: ReadonlyArray<Termination>
}

/** The accounts of the organization that the caller can access; any other does not exist. */
export class Accounts extends Context.Service<Accounts, {
  /** The account, or null when the caller cannot access it; locked for the rest of the transaction when asked. */
  find(caller: Caller["Service"], id: AccountId, lock: boolean): Effect.Effect<AccountFacts | null>
  /** The account with what was seen of its devices. */
  findWatched(caller: Caller["Service"], id: AccountId): Effect.Effect<WatchedAccount | null>
  /** Locks the account for the rest of the transaction, whatever the caller can access; null where it is gone. */
  hold(organizationId: OrganizationId, id: AccountId): Effect.Effect<AccountFacts | null>
  /**
   * Locks the account's archive for the rest of the transaction, and not the account, which the watch locks; null where
   * it is gone.
   */
  holdArchive(organizationId: OrganizationId, id: AccountId): Effect.Effect<AccountFacts | null>
  /** The account, whatever the caller can access; null where it is gone. */
  known(organizationId: OrganizationId, id: AccountId): Effect.Effect<AccountFacts | null>
  /** The organization's accounts after `after` in the console's order, whatever anybody can access. */
  every(organizationId: OrganizationId, after: AccountId | null, limit: number): Effect.Effect<
    ReadonlyArray<AccountFacts>
  >
  /** The accounts after `after`, or null when the caller cannot access that one. */
  list(caller: Caller["Service"], query: AccountQuery, now: Date): Effect.Effect<ReadonlyArray<ListedFacts> | null>
  /** Those of the accounts that the caller can access; without ids, all that have archived messages. */
  archived(caller: Caller["Service"], ids: ReadonlyArray<AccountId> | null): Effect.Effect<ReadonlyArray<AccountId>>
  /** The accounts that have most of something of their archives, the most first; none that has nothing of it. */
  ranked(
    caller: Caller["Service"],
    by: "archive_bytes" | "archive_chats_review",
    limit: number
  ): Effect.Effect<ReadonlyArray<AccountFacts>>
  /** The accounts that match best, one more than `limit` where more do. */
  search(caller: Caller["Service"], query: string, limit: number): Effect.Effect<ReadonlyArray<ListedFacts>>
  /**
   * Stops reviewing: no deadline and no queued sign-out stays, but which sign-outs were withheld is kept. Answers of
   * how many sessions the review ended.
   */
  pause(organizationId: OrganizationId, account: AccountFacts, now: Date): Effect.Effect<number>
  /** Takes monitoring up again, as protected whatever happened before. */
  resume(organizationId: OrganizationId, account: AccountFacts, now: Date): Effect.Effect<void>
  /**
   * Ends protection: nothing is watched any more, its sessions are forgotten, and the seat is free. The organization is
   * locked.
   */
  offboard(organizationId: OrganizationId, account: AccountFacts, now: Date): Effect.Effect<void>
  /** Deletes the account with its grants, secrets and sessions; its identity is free. */
  remove(organizationId: OrganizationId, id: AccountId): Effect.Effect<void>
  /** Sets if strangers are signed out on sight. */
  setSecurityLock(organizationId: OrganizationId, account: AccountFacts, enabled: boolean): Effect.Effect<void>
  /** Ends the lock that a stopped takeover left; that it was stopped stays. */
  releaseTakeoverLock(organizationId: OrganizationId, account: AccountFacts): Effect.Effect<void>
  setRoleLabel(organizationId: OrganizationId, account: AccountFacts, label: string | null): Effect.Effect<void>
  /** Keeps when the holder agreed to archiving; null where they do not. */
  setConsent(organizationId: OrganizationId, account: AccountFacts, at: Date | null): Effect.Effect<void>
  /** Files the account under a department that is locked, or under none. */
  setDepartment(
    organizationId: OrganizationId,
    account: AccountFacts,
    departmentId: DepartmentId | null
  ): Effect.Effect<void>
  /** Keeps the names that the messenger has now, and the place in the list that follows from them. */
  setNames(organizationId: OrganizationId, account: AccountFacts, names: MessengerNames): Effect.Effect<void>
}>()("org-security-console/ports/accounts/Accounts") {}
