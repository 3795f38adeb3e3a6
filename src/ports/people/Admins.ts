/** The organization's admins, for operators, mail preferences and enabling: no caller's limit applies. */
import { Context, type Effect } from "effect"
import type { OrganizationId, Role } from "../../domain/people/Access.ts"
import type { AdminFacts } from "../../domain/people/Admin.ts"
import type { MailChoices } from "../../domain/people/MailPreferences.ts"

export interface NewAdmin {
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly archiveAccess: boolean
}

/** The admins of the organization. */
export class Admins extends Context.Service<Admins, {
  /**
   * The addresses of the admin's emails and the kinds that they get, or null for an admin without a sign-in of their
   * own.
   */
  mailPreferences(
    organizationId: OrganizationId,
    adminId: string,
    lock: boolean
  ): Effect.Effect<{ readonly email: string; readonly choices: MailChoices } | null>
  setMailChoices(organizationId: OrganizationId, adminId: string, choices: MailChoices): Effect.Effect<void>
  /** Every admin, the owner first and then by age. */
  list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<AdminFacts>>
  /** The admin of an address in any case, if there is one; locked for the rest of the transaction when asked. */
  findByEmail(organizationId: OrganizationId, email: string, lock: boolean): Effect.Effect<AdminFacts | null>
  /**
   * Creates an admin without a password, and returns the id; null where the address is taken, or there is an owner
   * already.
   */
  create(organizationId: OrganizationId, admin: NewAdmin, now: Date): Effect.Effect<string | null>
  update(
    organizationId: OrganizationId,
    adminId: string,
    changes: { readonly name?: string; readonly role?: Role }
  ): Effect.Effect<void>
  /**
   * Disables the admin as of a moment: keys and connections stop until the admin is enabled, and console sessions,
   * sign-ins that wait and links to a new password end for good. Answers how many sessions there were.
   */
  disable(organizationId: OrganizationId, adminId: string, at: Date): Effect.Effect<number>
  enable(organizationId: OrganizationId, adminId: string): Effect.Effect<void>
}>()("org-security-console/ports/people/Admins") {}
