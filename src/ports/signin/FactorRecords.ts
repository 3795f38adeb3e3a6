/** An operator's access to second factors. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** The factors that were taken away, and what ended with them. */
export interface FactorReset {
  readonly factors: number
  readonly sessions: number
}

/** Second factors, changed within the organization's transaction. */
export class FactorRecords extends Context.Service<FactorRecords, {
  /** Takes every second factor and recovery code of the admin away, and ends their console sessions. */
  reset(admin: AdminRef): Effect.Effect<FactorReset>
  /**
   * Sets if the organization requires a second factor, and returns the number of console sessions that ended, of admins
   * who have none; null where it was so already.
   */
  setRequired(id: OrganizationId, required: boolean): Effect.Effect<number | null>
}>()("org-security-console/ports/signin/FactorRecords") {}
