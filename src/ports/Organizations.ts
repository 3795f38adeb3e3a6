/** The organization's facts and settings. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../domain/Access.ts"
import type { OrganizationFacts, Recipients } from "../domain/Organization.ts"

/** The organization's facts and settings. */
export class Organizations extends Context.Service<Organizations, {
  facts(id: OrganizationId): Effect.Effect<OrganizationFacts>
  /** The recipients of notifications, locked for the rest of the transaction. */
  lockRecipients(id: OrganizationId): Effect.Effect<Recipients>
  setRecipients(id: OrganizationId, recipients: Recipients): Effect.Effect<void>
}>()("org-security-console/ports/Organizations") {}
