/** Periodic background work. */
import type { Duration, Effect } from "effect"

/** The reason that a run failed: an unavailable database, or a condition that needs an operator. */
export interface JobFailure {
  readonly _tag: string
  readonly message: string
}

/** The period of a job, and its purpose, as the documents say it. */
export interface Declared {
  /** The time from the end of a run to the start of the next one, give or take a fifth. */
  readonly period: Duration.Input
  /** The shortest pause, where it may be shorter than the period. */
  readonly least?: Duration.Input
  /** The work, in the present tense. */
  readonly does: string
}

/**
 * The work of a job.
 *
 * A run does what is due at the Clock's now. It is bounded, and safe together with the same run of another process: it
 * skips the rows that others have locked, or does nothing the second time. A failed run is logged and counted, and the
 * next one comes as ever.
 */
export interface Work {
  /** Waits for the next run instead, where the job knows when that is; not longer than the period. */
  readonly pause?: Effect.Effect<void>
  readonly run: Effect.Effect<unknown, JobFailure>
  /** The work before anything is served, where no other process uses the database. */
  readonly atStart?: Effect.Effect<unknown, JobFailure>
  /** The work at the end, where no other process uses the database. */
  readonly atEnd?: Effect.Effect<unknown, JobFailure>
}

/** One piece of background work. */
export interface Job extends Work {
  /** As metrics and `status` name it: `verb_object`. */
  readonly name: string
  readonly period: Duration.Input
}
