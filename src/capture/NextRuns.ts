/** The time of an account's next run, by how the last one ended. */
import { Duration } from "effect"
import { after } from "../domain/Moments.ts"
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
  { accountId, askedAt, failures }: Pick<ClaimedRun, "accountId" | "askedAt" | "failures">,
  outcome: RunOutcome,
  timeZone: string,
  now: Date
): RunEnd & { readonly failures: number } => {
  const night = nextNight(timeZone, shareOf(accountId), now)
  const over = { error: null, retryAt: null, done: false, askedAt: null, failures: 0 }
  switch (outcome._tag) {
    case "Done":
      return { ...over, nextAt: night, done: true }
    case "Stopped":
      return { ...over, nextAt: after(now, stoppedTime) }
    case "Waiting":
      return { ...over, nextAt: after(now, Duration.seconds(outcome.seconds)), askedAt, failures }
    case "Failed": {
      const pause = retries[failures]
      const retryAt = pause === undefined ? null : after(now, pause)
      return { ...over, error: outcome.error, retryAt, nextAt: retryAt ?? night, failures: failures + 1 }
    }
  }
}
