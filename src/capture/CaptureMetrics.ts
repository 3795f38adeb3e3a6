/** The counts and measures of archiving; labels have a bounded number of values. */
import { Clock, Duration, Effect, Metric } from "effect"
import type { RunPhase } from "../domain/archive/ArchiveSummary.ts"
import type { Box } from "../ports/messenger/MessengerArchive.ts"

const gaps = Metric.counter("console_archive_gaps_total", {
  description: "Losses of changes that chats were compared again for, by the kind of their box",
  incremental: true
})

const droppedPushes = Metric.counter("console_archive_pushes_dropped_total", {
  description: "Pushes of chats that were not read in time: their differences are asked for",
  incremental: true
})

const behind = Metric.summary("console_archive_behind_seconds", {
  description: "How long after they were sent new messages were archived as they arrived, over the last minute",
  maxAge: "1 minute",
  maxSize: 8192,
  quantiles: [0.5, 0.99, 1]
})

const phases = Metric.histogram("console_archive_run_seconds", {
  description: "Time of each phase of a run over an archive, in seconds",
  boundaries: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600]
})

/** Changes of the box are lost for good. */
export const lost = (box: Box) =>
  Metric.update(Metric.withAttributes(gaps, { box: box === "common" ? "common" : "channel" }), 1)

/** So many pushes were given up. */
export const dropped = (pushes: number) => Metric.update(droppedPushes, pushes)

/** A message that was sent at the time, in Unix seconds, is archived as it arrived. */
export const arrived = (sentAt: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (at) => Metric.update(behind, Math.max(0, at / 1000 - sentAt)))

/** Measures how long a phase takes, whether it succeeds or fails. */
export const runPhase = (phase: typeof RunPhase.Type) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.trackDuration(work, Metric.withAttributes(phases, { phase }), Duration.toSeconds)
