/** Notifies organizations that the messenger is away, instead of reporting each of their accounts. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** In transactions of its own. */
export class Outages extends Context.Service<Outages, {
  /** Notifies the organization that the messenger is away, unless it has been notified already. */
  notify(organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable>
  /** Notifies every organization with watched accounts; returns whether all are notified, and logs the failures. */
  readonly notifyAll: Effect.Effect<boolean>
  /**
   * Notifies every organization that was notified before that the messenger is back, and makes the accounts due that
   * were not seen meanwhile; returns whether all are notified, and logs the failures.
   */
  readonly notifyBack: Effect.Effect<boolean>
}>()("org-security-console/ports/protection/MessengerOutages/Outages") {}
