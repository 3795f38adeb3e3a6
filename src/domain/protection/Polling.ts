/** The time of an account's next poll, and the time from which its state is unknown (specification 12.4). */
import { Duration } from "effect"
import {
  failingPollPeriod,
  failuresUntilUnknown,
  keylessPollPeriod,
  longestQuietFlood,
  manyFailures,
  pollPeriod,
  silenceUntilUnknown
} from "../Limits.ts"
import { after, before } from "../Moments.ts"
import type { AccountChange, MonitorChange } from "./Decision.ts"
import type { MonitorFacts, ProtectionFacts } from "./Facts.ts"
import { accountEvent, type Notice } from "./JournalNotices.ts"

/** The moment since which nothing good is known: the last good poll, or the start of monitoring. */
const knownAt = ({ last_ok_at, started_at }: Pick<MonitorFacts, "last_ok_at" | "started_at">): Date | null =>
  last_ok_at !== null && (started_at === null || last_ok_at > started_at) ? last_ok_at : started_at

/** An account without a good poll since this time is silent. */
export const silentSince = (now: Date, silence = silenceUntilUnknown): Date => before(now, silence)

/** True if no poll has succeeded for so long that the account's state is unknown. */
export const isSilent = (
  monitor: Pick<MonitorFacts, "last_ok_at" | "started_at">,
  now: Date,
  silence = silenceUntilUnknown
): boolean => {
  const known = knownAt(monitor)
  return known !== null && known <= silentSince(now, silence)
}

/** True if the poll before this one was good, and nothing but time lies between. */
export const lastPollWasGood = ({ account, monitor }: Pick<ProtectionFacts, "account" | "monitor">): boolean =>
  account.monitoring_state === "active" && monitor.failures === 0 && monitor.last_ok_at !== null &&
  (monitor.started_at === null || monitor.last_ok_at >= monitor.started_at)

/** The change of an account by a poll that brought nothing. */
export interface FailedPoll {
  readonly account: AccountChange
  readonly monitor: MonitorChange
  readonly notices: ReadonlyArray<Notice>
  /** True if it is unknown now without a report of its own; absent where that stays as it is. */
  readonly away?: boolean
}

/** The account is unknown from now on, which is reported once: for it, or for the messenger as a whole. */
const unknownFor = (
  { account, away, facets }: Pick<ProtectionFacts, "account" | "away" | "facets">,
  error: string
): Omit<FailedPoll, "monitor"> => {
  const known = account.monitoring_state === "unknown"
  const change = known ? {} : { monitoring_state: "unknown" as const }
  if (away && error === "unavailable") return { account: change, notices: [], ...(known ? {} : { away: true }) }
  if (known && facets.away !== true) return { account: change, notices: [] }
  return {
    account: change,
    notices: [[accountEvent("monitoring.lost", "service", { error }), { kind: "monitoring.lost", error }]],
    away: false
  }
}

/** A poll failed; what the platform said of it is kept with the account. */
export const failed = (facts: ProtectionFacts, error: string, now: Date, said: string | null = null): FailedPoll => {
  const failures = facts.monitor.failures + 1
  const unknown = failures >= failuresUntilUnknown || isSilent(facts.monitor, now)
  return {
    ...(unknown ? unknownFor(facts, error) : { account: {}, notices: [] }),
    monitor: {
      last_polled_at: now,
      last_poll_error: said === null ? error : `${error}: ${said}`,
      failures,
      first_failure_at: facts.monitor.first_failure_at ?? now
    }
  }
}

/** The platform demands a wait: that is a failure only when it is long. */
export const flooded = (facts: ProtectionFacts, seconds: number, now: Date): FailedPoll => {
  const wait = Duration.seconds(seconds)
  const flood_until = after(now, wait)
  if (Duration.toMillis(wait) <= Duration.toMillis(longestQuietFlood)) {
    const silent = isSilent(facts.monitor, now) ? unknownFor(facts, "flood") : { account: {}, notices: [] }
    return { ...silent, monitor: { last_polled_at: now, flood_until } }
  }
  const failure = failed(facts, "flood", now)
  return { ...failure, monitor: { ...failure.monitor, flood_until } }
}

/** No session of the service can be used, and that is its own fault. */
export const unusable = (facts: ProtectionFacts, error: string, now: Date): FailedPoll => ({
  ...unknownFor(facts, error),
  monitor: {
    last_polled_at: now,
    last_poll_error: error,
    failures: facts.monitor.failures + 1,
    first_failure_at: facts.monitor.first_failure_at ?? now
  }
})

const period = ({ failures, last_poll_error }: Pick<MonitorFacts, "failures" | "last_poll_error">) => {
  if (failures > 0 && (last_poll_error === "key_duplicated" || last_poll_error === "no_key")) return keylessPollPeriod
  return failures >= manyFailures ? failingPollPeriod : pollPeriod
}

/** The time of the next step: a poll, `spread` around its period (0.8 to 1.2), or what comes before it. */
export const nextStepAt = (
  monitor: Pick<MonitorFacts, "failures" | "last_poll_error" | "flood_until">,
  dueAt: Date | null,
  now: Date,
  spread: number
): Date => {
  const poll = new Date(now.getTime() + Math.round(Duration.toMillis(period(monitor)) * spread))
  const next = dueAt !== null && dueAt < poll ? dueAt : poll
  return monitor.flood_until !== null && monitor.flood_until > next ? monitor.flood_until : next
}
