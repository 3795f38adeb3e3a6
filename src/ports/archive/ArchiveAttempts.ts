/** The number of wrong archive passwords that may be tried in an hour. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { Caller } from "../../domain/people/Access.ts"

/** Each commits by itself, and never runs inside a transaction, which would take the count back. */
export class ArchiveAttempts extends Context.Service<ArchiveAttempts, {
  /**
   * Counts one more, for the credential, its admin and the organization; fails where any has had as many as it may. A
   * credential that has opened the archive within a week is limited by its own number alone.
   */
  count(caller: Caller["Service"]): Effect.Effect<void, TooManyAttempts | ServiceUnavailable>
  /** Takes the latest one back, because the password was not tried, or is that of a key that was replaced. */
  takeBack(caller: Caller["Service"]): Effect.Effect<void, ServiceUnavailable>
  /** Takes the latest one back, because the password is that of the current key, and remembers that the credential has opened it. */
  opened(caller: Caller["Service"]): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/archive/ArchiveAttempts") {}
