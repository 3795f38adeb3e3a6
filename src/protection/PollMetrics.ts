/** The counts and measures of the watch over accounts; labels have a bounded number of values. */
import { Clock, Duration, Effect, Metric } from "effect"
import type { EngineEvent, SignOutAttempt } from "../domain/protection/Decision.ts"
import type { Observation } from "../domain/protection/Observation.ts"

/**
 * The parts of a step: reading the messenger, writing down what follows, signing out, and writing down what came of it.
 */
export type Phase = "look" | "record" | "act" | "close"

const polls = Metric.counter("console_monitor_polls_total", {
  description: "Looks at accounts, by how they ended",
  incremental: true
})

const running = Metric.gauge("console_monitor_running", { description: "Accounts that are being looked at now" })

const lateness = Metric.summary("console_monitor_lateness_seconds", {
  description: "How long after they were due looks began, over the last minute; the quantile 1 is the longest",
  maxAge: "1 minute",
  maxSize: 8192,
  quantiles: [0.5, 0.99, 1]
})

const steps = Metric.histogram("console_monitor_step_seconds", {
  description: "Time of each phase of a look, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})

const signOuts = Metric.counter("console_sign_outs_total", {
  description: "Sign-outs that the service has sent by itself, by their reason and by what came of them",
  incremental: true
})

const takeovers = Metric.counter("console_takeovers_total", {
  description: "Takeovers that were detected, and of those that were stopped",
  incremental: true
})

const floodWaits = Metric.counter("console_flood_waits_total", {
  description: "How often the messenger asked the watch to wait",
  incremental: true
})

const keysDuplicated = Metric.counter("console_key_duplicated_total", {
  description: "Sessions of the service that the messenger ended because their key was used at two places",
  incremental: true
})

/** A poll ended. */
export const polled = (outcome: "quiet" | "written" | "outdated" | "failed") =>
  Metric.update(Metric.withAttributes(polls, { outcome }), 1)

/** The number of accounts that are polled now. */
export const runs = (count: number) => Metric.update(running, count)

/** A poll began that was due at a moment. */
export const began = (dueAt: Date) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Metric.update(lateness, Math.max(0, now - dueAt.getTime()) / 1000))

/** Measures how long a phase takes, whether it succeeds or fails. */
export const phase = (name: Phase) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.trackDuration(effect, Metric.withAttributes(steps, { phase: name }), Duration.toSeconds)

/** Counts what a poll has seen and caused, once it is stored. */
export const observed = ({ outcome }: Observation) =>
  outcome.kind === "flood" ? Metric.update(floodWaits, 1) : Effect.void

/** Counts events, once they are stored. */
export const countEvents = Effect.fnUntraced(function*(events: ReadonlyArray<EngineEvent>) {
  for (const { action, details } of events) {
    if ((details["error"] ?? details["reason"]) === "key_duplicated") yield* Metric.update(keysDuplicated, 1)
    if (action !== "takeover.detected" && action !== "takeover.stopped") continue
    yield* Metric.update(Metric.withAttributes(takeovers, { stopped: String(action === "takeover.stopped") }), 1)
  }
})

/** Counts the results of sign-outs, once they are stored. */
export const signedOut = Effect.fnUntraced(function*(attempts: ReadonlyArray<SignOutAttempt>) {
  for (const { outcome, reason } of attempts) {
    if (outcome === "flood") yield* Metric.update(floodWaits, 1)
    yield* Metric.update(Metric.withAttributes(signOuts, { reason, outcome }), 1)
  }
})
