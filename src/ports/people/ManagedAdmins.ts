/** Admins as other admins manage them through the operations and pages; `Admins` has what needs no caller. */
import { Context, Effect, type Redacted } from "effect"
import type { CancelledLogin } from "../../domain/logins/Login.ts"
import type { Caller, OrganizationId, Role } from "../../domain/people/Access.ts"
import type { AdminFacts, AdminStatus, GivenRole, ShownFacts } from "../../domain/people/Admin.ts"
import type { WantedAccess } from "../../domain/people/AdminRules.ts"
import type { EndedCredentials } from "../signin/ConsolePasswords.ts"

/** A page of admins, one more than `limit` where more follow. */
export interface AdminsQuery {
  readonly role: Role | undefined
  readonly status: AdminStatus | undefined
  readonly after: string | undefined
  readonly limit: number
}

/** An invitation to send. */
export interface NewInvitation {
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

/**
 * Gets the token of a new invitation where no mail brings it: nothing does by default, and a page of the console that
 * shows the link to the admin who invites.
 */
export const InvitationReceiver = Context.Reference<(token: Redacted.Redacted) => Effect.Effect<void>>(
  "org-security-console/ports/ManagedAdmins/InvitationReceiver",
  { defaultValue: () => () => Effect.void }
)

/** The kind of the wanted ids that the caller cannot access. */
export type InaccessibleIds = "account_ids" | "department_ids" | null

/** Admins who have not been removed; each function but `list` and `find` works within a change's transaction. */
export class ManagedAdmins extends Context.Service<ManagedAdmins, {
  /**
   * The admins after `after` that the caller sees, the owner first and then by address; null when it is none of them.
   */
  list(caller: Caller["Service"], query: AdminsQuery, now: Date): Effect.Effect<ReadonlyArray<ShownFacts> | null>
  /** The admin, where the caller sees them. */
  find(caller: Caller["Service"], id: string, now: Date): Effect.Effect<ShownFacts | null>
  /** Locks those of the admins that exist, in the order of their ids. */
  lock(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<AdminFacts>>
  /** True if a grant of the admin lies beyond the caller's limit. */
  isGrantedBeyond(caller: Caller["Service"], id: string): Effect.Effect<boolean>
  /** Locks the departments that are wanted, and returns which part of the access the caller cannot access. */
  inaccessible(caller: Caller["Service"], wanted: WantedAccess): Effect.Effect<InaccessibleIds>
  /**
   * Replaces the admin's grants within the caller's limit by the wanted ones, and returns how many were added and
   * taken.
   */
  setAccess(
    caller: Caller["Service"],
    id: string,
    wanted: WantedAccess
  ): Effect.Effect<{ readonly added: number; readonly taken: number }>
  /** Locks the admin's connections before the admin, because a token request locks the connection first. */
  lockCredentials(organizationId: OrganizationId, id: string): Effect.Effect<void>
  /** Removes the admin's grants, credentials, open logins and sign-in factors; keeps the row for the journal. */
  remove(
    organizationId: OrganizationId,
    id: string,
    now: Date
  ): Effect.Effect<{ readonly ended: EndedCredentials; readonly logins: ReadonlyArray<CancelledLogin> }>
  /** Makes the owner a superadmin and the other the owner; both are locked. */
  transfer(organizationId: OrganizationId, owner: string | null, next: string): Effect.Effect<void>
  /**
   * Counts an invitation to the address and returns null; or, where too many were sent within a day, the seconds after
   * which another one may be sent.
   */
  countInvitation(organizationId: OrganizationId, email: string, now: Date): Effect.Effect<number | null>
  /** Creates an admin who has not joined; null where the address is taken. */
  invite(caller: Caller["Service"], invited: NewInvitation, now: Date): Effect.Effect<Invitation | null>
  /** Makes a new invitation for the admin; the previous one stops working. */
  reinvite(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<Invitation>
}>()("org-security-console/ports/people/ManagedAdmins") {}
