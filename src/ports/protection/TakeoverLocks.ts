/** The locks that stopped takeovers leave on accounts. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"

export interface TakeoverLock {
  readonly id: string
  readonly locked_at: Date
}

export class TakeoverLocks extends Context.Service<TakeoverLocks, {
  /** Accounts of open organizations that were locked at the moment or earlier. */
  due(until: Date, limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /** Those of the accounts that are locked so still, held from here on; rows that others have locked are skipped. */
  hold(
    organizationId: OrganizationId,
    ids: ReadonlyArray<string>,
    until: Date
  ): Effect.Effect<ReadonlyArray<TakeoverLock>>
  end(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<void>
}>()("org-security-console/ports/protection/TakeoverLocks") {}
