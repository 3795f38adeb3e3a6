/** The admins of the organization as the admins themselves manage them. */
import { Context, type Effect, type Redacted } from "effect"
import type { Caller, OrganizationId, Role } from "../domain/Access.ts"
import type { AdminFacts, AdminStatus, GivenRole, ShownFacts } from "../domain/Admin.ts"
import type { WantedAccess } from "../domain/AdminRules.ts"
import type { CancelledLogin } from "../domain/Login.ts"
import type { EndedCredentials } from "./ConsolePasswords.ts"

/** A page of admins, one more than `limit` where more follow. */
export interface PeopleQuery {
  readonly role: Role | undefined
  readonly status: AdminStatus | undefined
  readonly after: string | undefined
  readonly limit: number
}

/** Somebody who is invited. */
export interface Invited {
  readonly email: string
  readonly name: string | null
  readonly role: GivenRole
}

/** A new invitation: the only time that its token can be seen. */
export interface Invitation {
  readonly id: string
  readonly token: Redacted.Redacted
  readonly expiresAt: Date
}

/** Which of what is wanted the caller does not reach. */
export type Unreached = "account_ids" | "department_ids" | null

/** Admins who have not been removed; each function but `list` and `find` works within a change's transaction. */
export class People extends Context.Service<People, {
  /** The admins after `after` that the caller sees, the owner first and then by address; null when it is none of them. */
  list(caller: Caller["Service"], query: PeopleQuery, now: Date): Effect.Effect<ReadonlyArray<ShownFacts> | null>
  /** The admin, where the caller sees them. */
  find(caller: Caller["Service"], id: string, now: Date): Effect.Effect<ShownFacts | null>
  /** Holds those of the admins who are there, in the order of their ids. */
  lock(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<AdminFacts>>
  /** Whether a grant of the admin lies beyond the caller's limit. */
  isGrantedBeyond(caller: Caller["Service"], id: string): Effect.Effect<boolean>
  /** Holds the departments that are wanted, and answers what of the access the caller does not reach. */
  inaccessible(caller: Caller["Service"], wanted: WantedAccess): Effect.Effect<Unreached>
  /**
   * Grants what is wanted instead of what was granted, of what the caller's limit holds, and answers how many grants that
   * adds and takes.
   */
  setAccess(
    caller: Caller["Service"],
    id: string,
    wanted: WantedAccess
  ): Effect.Effect<{ readonly added: number; readonly taken: number }>
  /** Holds the admin's connections before the admin: a token request locks the connection first. */
  lockCredentials(organizationId: OrganizationId, id: string): Effect.Effect<void>
  /** Takes the grants, credentials and open logins of the admin and what they sign in with; keeps the row for the journal. */
  remove(
    organizationId: OrganizationId,
    id: string,
    now: Date
  ): Effect.Effect<{ readonly ended: EndedCredentials; readonly logins: ReadonlyArray<CancelledLogin> }>
  /** Makes the owner a superadmin and the other the owner; both are locked. */
  transfer(organizationId: OrganizationId, owner: string | null, next: string): Effect.Effect<void>
  /**
   * Counts an invitation to the address, and answers null; or, where too many went out within a day, the seconds after
   * which one may again.
   */
  countInvitation(organizationId: OrganizationId, email: string, now: Date): Effect.Effect<number | null>
  /** Makes an admin who has not joined; null where the address is taken. */
  invite(caller: Caller["Service"], invited: Invited, now: Date): Effect.Effect<Invitation | null>
  /** Makes a new invitation of the admin; the one before stops. */
  reinvite(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<Invitation>
}>()("org-security-console/ports/People") {}
