/** The admins of the organization. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../domain/Access.ts"
import type { MailChoices } from "../domain/Preferences.ts"

/** The admins of the organization. */
export class Admins extends Context.Service<Admins, {
  /** Where the admin's emails go and which they are, or null for an admin without a sign-in of their own. */
  mailPreferences(
    organizationId: OrganizationId,
    adminId: string,
    lock: boolean
  ): Effect.Effect<{ readonly email: string; readonly choices: MailChoices } | null>
  setMailChoices(organizationId: OrganizationId, adminId: string, choices: MailChoices): Effect.Effect<void>
}>()("org-security-console/ports/Admins") {}
