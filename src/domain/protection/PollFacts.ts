/** Judges how the polls of all accounts go together: whether a process makes them, and whether they succeed. */
import type { Duration } from "effect"
import { unansweredReported, unpolledReported } from "../Limits.ts"
import { after } from "../Moments.ts"

/** Of accounts that are to be watched. */
export interface PollFacts {
  /** The due time of the account that has waited longest and that no process is polling; null without one. */
  readonly due_since: Date | null
  /** The time of the last poll, whatever it brought. */
  readonly tried_at: Date | null
  /** The time when a poll last succeeded, or monitoring last began; null where no account is watched. */
  readonly known_at: Date | null
  /** True if the messenger did not answer the last poll of an account. */
  readonly unavailable: boolean
}

/** True if a moment lies further back. */
export const isOlder = (at: Date | null, age: Duration.Duration, now: Date): boolean =>
  at !== null && after(at, age) < now

/** The moment since which no process polls any account, although one is due; null where none is. */
export const unpolledSince = ({ due_since, tried_at }: Pick<PollFacts, "due_since" | "tried_at">): Date | null =>
  due_since !== null && tried_at !== null && tried_at > due_since ? tried_at : due_since

/** The reason that no account is known to be all right, if that is so. */
export type PollFault = "unpolled" | "unavailable" | "failing"

export const pollFault = (facts: PollFacts, now: Date): PollFault | null => {
  if (isOlder(unpolledSince(facts), unpolledReported, now)) return "unpolled"
  if (!isOlder(facts.known_at, unansweredReported, now)) return null
  return facts.unavailable ? "unavailable" : "failing"
}
