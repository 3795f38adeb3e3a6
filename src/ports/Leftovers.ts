/** Rows of all organizations that are over and kept no longer. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"

type Deleting = Effect.Effect<void, ServiceUnavailable>

/** Each deletes by age: a second process finds nothing to delete. */
export class Leftovers extends Context.Service<Leftovers, {
  readonly accountAttempts: Deleting
  readonly archiveExports: Deleting
  readonly browsers: Deleting
  /** Console sessions, and sign-ins that were not completed. */
  readonly consoleSessions: Deleting
  readonly idempotencyKeys: Deleting
  /** Keys of the messenger's sessions that no longer exist. */
  readonly messengerKeys: Deleting
  readonly passwordAttempts: Deleting
  /** Links to a new password, and requests for one. */
  readonly passwordResets: Deleting
  readonly rateLimits: Deleting
}>()("org-security-console/ports/Leftovers") {}
