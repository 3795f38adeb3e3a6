/** The time of an account's next run, by how the last one ended. */
import { Duration } from "effect"
import { nextNight } from "../domain/organization/TimeZone.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { RunEnd } from "../ports/archive/CaptureStore.ts"
import type { CaptureStopped } from "./CaptureStop.ts"

export type RunOutcome =
  | { readonly _tag: "Done" }
  /** Something stops saving; that is looked at again. */
  | { readonly _tag: "Stopped"; readonly reason: CaptureStopped["reason"] }
  /** The messenger or the database is away, or asks to wait: no failure. */
  | { readonly _tag: "Waiting"; readonly seconds: number }
  | { readonly _tag: "Failed"; readonly error: string }

/** A run that failed is tried again after these, then in the night. */
const retries = [Duration.minutes(1), Duration.minutes(5), Duration.minutes(30), Duration.hours(2)]

/** An account of which nothing is saved is looked at again after this. */
const stoppedTime = Duration.minutes(10)

/** The account's share of a night, or of another period: the same each time, and even over all accounts. */
export const shareOf = (accountId: string): number => Number.parseInt(accountId.slice(-8), 16) / 2 ** 32

/** The facts that a run leaves behind, in an organization with the time zone. */
export const afterRun = (
  { accountId, failures }: Pick<ClaimedRun, "accountId" | "failures">,
  outcome: RunOutcome,
  timeZone: string,
  now: Date
): RunEnd & { readonly failures: number } => {
  const night = nextNight(timeZone, shareOf(accountId), now)
  const later = (duration: Duration.Duration) => new Date(now.getTime() + Duration.toMillis(duration))
  switch (outcome._tag) {
    case "Done":
      return { error: null, retryAt: null, nextAt: night, done: true, failures: 0 }
    case "Stopped":
      return { error: null, retryAt: null, nextAt: later(stoppedTime), done: false, failures: 0 }
    case "Waiting":
      return { error: null, retryAt: null, nextAt: later(Duration.seconds(outcome.seconds)), done: false, failures }
    case "Failed": {
      const pause = retries[failures]
      const retryAt = pause === undefined ? null : later(pause)
      return { error: outcome.error, retryAt, nextAt: retryAt ?? night, done: false, failures: failures + 1 }
    }
  }
}
