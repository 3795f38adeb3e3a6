/** The statuses of accounts as rows keep them. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

/** Of all organizations. */
export class StoredStatuses extends Context.Service<StoredStatuses, {
  /** Stores the statuses that follow those that have ended, and returns how many; locked rows are skipped. */
  readonly refresh: Effect.Effect<number, ServiceUnavailable>
  /** Stores the counts of the period where they have changed; a second process writes nothing more. */
  readonly sample: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/accounts/StoredStatuses") {}
