/** What organizations are told where the messenger cannot be reached at all, instead of each of their accounts. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../domain/Access.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"

/** In transactions of its own. */
export class Outages extends Context.Service<Outages, {
  /** Tells the organization that the messenger cannot be reached, unless it knows. */
  tell(organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable>
  /** Tells every organization whose accounts are watched; answers whether all know now, and logs who does not. */
  readonly tellAll: Effect.Effect<boolean>
  /**
   * Tells whoever was told that the messenger can be reached again, and makes the accounts due that were not seen; answers
   * whether all know now, and logs who does not.
   */
  readonly back: Effect.Effect<boolean>
}>()("org-security-console/engine/Outages") {}
