/** The number of verifications of archives at a time: the database hashes every page of each. */
import { Context, type Effect, type Scope } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

export class VerificationTurns extends Context.Service<VerificationTurns, {
  /** Holds a turn until the scope ends; fails immediately where as many run in this process as may. */
  take(organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("org-security-console/ports/archive/VerificationTurns") {}
