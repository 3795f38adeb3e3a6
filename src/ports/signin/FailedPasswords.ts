/** Wrong console passwords that are to be journaled, those of addresses that are no admin's too. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Via } from "../../domain/people/Access.ts"
import type { AdminRef, Attempt } from "./ConsolePasswords.ts"

/** The owner of a wrong password: the admin, null for an address that is no admin's, and the key of the record. */
export interface PasswordFailure {
  readonly key: string
  readonly admin: AdminRef | null
}

/** The failures of an admin that are not journaled. */
export interface PasswordFailures {
  readonly failures: number
  readonly since: Date
  /** At most 100 are counted. */
  readonly addresses: number
  readonly ip: string | null
  readonly request_id: string | null
  readonly via: Via
  readonly journaled_at: Date | null
  readonly burst: boolean
}

export class FailedPasswords extends Context.Service<FailedPasswords, {
  /** Keeps a failure, by one statement whether or not it is an admin's. */
  add(failure: PasswordFailure, attempt: Attempt, now: Date): Effect.Effect<void, ServiceUnavailable>
  /** Some admins with failures to journal, whose last entry was before the given time or was not of a burst. */
  due(before: Date): Effect.Effect<ReadonlyArray<AdminRef>, ServiceUnavailable>
  /** The admin's failures, locked, within the organization's transaction. */
  lock(admin: AdminRef): Effect.Effect<PasswordFailures | null>
  /** Starts to count again, within the organization's transaction. */
  setJournaled(admin: AdminRef, now: Date, burst: boolean): Effect.Effect<void>
  /** Forgets admins without failures since, and addresses that are no admin's. */
  forget(before: Date): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/signin/FailedPasswords") {}
