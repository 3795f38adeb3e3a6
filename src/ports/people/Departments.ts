/** The departments of the organization. */
import { Context, type Effect } from "effect"
import type { DepartmentId } from "../../domain/accounts/Account.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { DepartmentFacts } from "../../domain/people/Department.ts"

/** A department that an account may be moved to. */
export interface Destination {
  /** True if it is among those that the caller is shown. */
  readonly shown: boolean
  /** True if the caller can access all of its accounts, also those that are filed there later. */
  readonly accessible: boolean
}

/** The departments of the organization; each function works within the operation's transaction. */
export class Departments extends Context.Service<Departments, {
  /**
   * The departments after `after` that are granted to the caller or hold an account that the caller can access, by
   * name, one more than `limit` where more follow; null when `after` is none of them.
   */
  list(
    caller: Caller["Service"],
    page: { readonly after: DepartmentId | undefined; readonly limit: number }
  ): Effect.Effect<ReadonlyArray<DepartmentFacts> | null>
  /** The department with the accounts that the caller can access; null where there is none. */
  find(caller: Caller["Service"], id: DepartmentId): Effect.Effect<DepartmentFacts | null>
  /** Makes a department without accounts; null where the name is taken. */
  create(organizationId: OrganizationId, name: string, now: Date): Effect.Effect<DepartmentFacts | null>
  /**
   * The department for the rest of the transaction, with the accounts that the caller can access; null where there is
   * none.
   */
  lock(caller: Caller["Service"], id: DepartmentId): Effect.Effect<DepartmentFacts | null>
  /** Answers whether the name was free. */
  rename(organizationId: OrganizationId, id: DepartmentId, name: string): Effect.Effect<boolean>
  /** Deletes the department that is locked, and returns true if it was; not one that is in use. */
  remove(organizationId: OrganizationId, id: DepartmentId, now: Date): Effect.Effect<boolean>
  /** Holds the departments between which an account is moved, and answers what the destination is to the caller. */
  lockMove(
    caller: Caller["Service"],
    from: DepartmentId | null,
    to: DepartmentId | null
  ): Effect.Effect<Destination>
}>()("org-security-console/ports/people/Departments") {}
