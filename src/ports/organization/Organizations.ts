/** The organization's facts and settings. */
import { Context, type Effect } from "effect"
import type { OrganizationFacts, Recipients } from "../../domain/organization/Organization.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** The organization's facts and settings. */
export class Organizations extends Context.Service<Organizations, {
  /** The facts of the caller's organization; those that became known as the request came in, where they did. */
  facts(caller: Pick<Caller["Service"], "arrival" | "organizationId">): Effect.Effect<OrganizationFacts>
  /** Holds the organization for the rest of the transaction: changes that meet in it follow each other. */
  lock(id: OrganizationId): Effect.Effect<void>
  /** The recipients of notifications, locked for the rest of the transaction. */
  lockRecipients(id: OrganizationId): Effect.Effect<Recipients>
  setRecipients(id: OrganizationId, recipients: Recipients): Effect.Effect<void>
  /** The facts as they are now, locked for the rest of the transaction. */
  lockFacts(id: OrganizationId): Effect.Effect<OrganizationFacts>
  /** Sets if a takeover signs sessions out, or is only reported. */
  setLockdown(id: OrganizationId, enabled: boolean): Effect.Effect<void>
}>()("org-security-console/ports/organization/Organizations") {}
