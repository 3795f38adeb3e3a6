/** The time of an account's next run, by how the last one ended. */
import { Duration } from "effect"
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

const dayMillis = Duration.toMillis(Duration.days(1))
/** Runs are spread over the hours from midnight until then, in UTC. */
const nightMillis = Duration.toMillis(Duration.hours(6))

/** The account's moment of the next night: the same each night, and even over all accounts. */
const nextNight = (accountId: string, after: Date): Date => {
  const share = Number.parseInt(accountId.slice(-8), 16) / 2 ** 32
  const today = Math.floor(after.getTime() / dayMillis) * dayMillis + Math.floor(share * nightMillis)
  return new Date(today > after.getTime() ? today : today + dayMillis)
}

/** The facts that a run leaves behind. */
export const afterRun = (
  { accountId, failures }: Pick<ClaimedRun, "accountId" | "failures">,
  outcome: RunOutcome,
  now: Date
): RunEnd & { readonly failures: number } => {
  const night = nextNight(accountId, now)
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
