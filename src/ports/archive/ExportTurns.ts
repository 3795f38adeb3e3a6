/** The number of parts of exports that are made at a time: each opens many pages. */
import { Context, type Effect, type Scope } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

export class ExportTurns extends Context.Service<ExportTurns, {
  /** Holds a turn until the scope ends; fails immediately where as many are being made as may. */
  take(organizationId: OrganizationId): Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("org-security-console/ports/archive/ExportTurns") {}
