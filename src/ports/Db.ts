/** The database as operations see it. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { OrganizationId } from "../domain/people/Access.ts"

/** The transaction, and the boundary of the organization whose rows it may touch. */
export class Db extends Context.Service<Db, {
  /**
   * Runs the effect in one transaction of the organization: all of it commits, or nothing.
   *
   * Fails with `ServiceUnavailable` while the database is away or slower than the deadline.
   */
  transaction<A, E, R>(
    organizationId: OrganizationId,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ServiceUnavailable, R>
  /** Runs statements that can change nothing, each of what is committed when it begins. */
  read<A, E, R>(
    organizationId: OrganizationId,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ServiceUnavailable, R>
  /** Fails where the database does not answer now. */
  readonly check: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/Db") {}
