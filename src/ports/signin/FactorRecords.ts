/** The second factors of an admin as a whole, and whether the organization requires one. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { SignedIn } from "./ConsoleSessions.ts"

/** The factors that were taken away, and what ended with them. */
export interface FactorReset {
  readonly factors: number
  readonly sessions: number
}

/** Second factors, within the organization's transaction. */
export class FactorRecords extends Context.Service<FactorRecords, {
  /** True if the admin has a second factor. */
  has(admin: AdminRef): Effect.Effect<boolean>
  /** True if the admin has to give a second factor to sign in: they have one, or the organization requires it. */
  isAsked(admin: AdminRef): Effect.Effect<boolean>
  /** True if the admin has no second factor, or gave it in the session since. */
  isRemembered(admin: SignedIn, since: Date): Effect.Effect<boolean>
  /** Takes every second factor and recovery code of the admin away; returns the number of factors. */
  removeAll(admin: AdminRef): Effect.Effect<number>
  /** Takes every second factor and recovery code of the admin away, and ends their console sessions. */
  reset(admin: AdminRef): Effect.Effect<FactorReset>
  /** True if the organization requires a second factor. */
  isRequired(id: OrganizationId): Effect.Effect<boolean>
  /**
   * Sets if the organization requires a second factor, and returns the number of console sessions that ended, of admins
   * who have none; null where it was so already.
   */
  setRequired(id: OrganizationId, required: boolean): Effect.Effect<number | null>
}>()("org-security-console/ports/signin/FactorRecords") {}
