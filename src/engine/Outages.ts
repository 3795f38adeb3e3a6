/** What organizations are told where the messenger cannot be reached at all, instead of each of their accounts. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../domain/Access.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"

/** In transactions of its own. */
export class Outages extends Context.Service<Outages, {
  /** Tells the organization that the messenger cannot be reached, unless it knows. */
  tell(organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable>
  /** Tells every organization whose accounts are watched. */
  readonly tellAll: Effect.Effect<void, ServiceUnavailable>
  /** Tells whoever was told that the messenger can be reached again, and makes the accounts due that were not seen. */
  readonly back: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/engine/Outages") {}
