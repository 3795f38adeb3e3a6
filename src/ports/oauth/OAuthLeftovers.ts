/** Rows that the authorization server no longer needs. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

export class OAuthLeftovers extends Context.Service<OAuthLeftovers, {
  /**
   * Deletes tokens that have ended until `now`, codes until `codes`, whatever is left of revoked connections, and
   * registrations of until `clients` that no admin has connected; of the others of that time it forgets the address.
   */
  forget(
    until: { readonly now: Date; readonly codes: Date; readonly clients: Date }
  ): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/oauth/OAuthLeftovers") {}
