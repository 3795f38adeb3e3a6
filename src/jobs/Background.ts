/** Runs every job for as long as its scope is open, and reports how the last runs ended. */
import { Cause, Clock, Context, Duration, Effect, Layer, Metric, Result, Schedule } from "effect"
import { ServiceUnavailable } from "../domain/Failure.ts"
import type { Job, JobFailure } from "./Job.ts"
import { jobs } from "./Jobs.ts"

/** A run's timeout. */
const timeout = Duration.minutes(5)

/** The ends of the last runs of a job in this process. */
export interface JobState {
  readonly name: string
  readonly last_done_at: Date | null
  readonly last_failed_at: Date | null
  /** The reason that the last run failed; null where it did not. */
  readonly failure: string | null
}

export interface Options {
  /** True if no other process uses the database. */
  readonly alone: boolean
  /** Fails while the database is not ready to be worked on; by default it is from the start. */
  readonly ready?: Effect.Effect<void, ServiceUnavailable>
  /** True if accounts are to be watched, though it be by another process; as this one does by default. */
  readonly watched?: boolean
}

const runs = Metric.counter("console_job_runs_total", {
  description: "Runs of background jobs, by how they ended",
  incremental: true
})

const lastDone = Metric.gauge("console_job_last_done_timestamp_seconds", {
  description: "When a background job was last done, in seconds since 1970"
})

const gaveUp: JobFailure = { _tag: "JobTimeout", message: `it took longer than ${Duration.format(timeout)}` }

const messageOf = (cause: Cause.Cause<JobFailure>): string => {
  const failure = Cause.findError(cause)
  return Result.isSuccess(failure) ? failure.success.message : "it failed unexpectedly; the log has the cause"
}

/** A job with what is known of its runs. */
const make = ({ name, period, ...job }: Job, ready: Effect.Effect<void, ServiceUnavailable>) => {
  let state: JobState = { name, last_done_at: null, last_failed_at: null, failure: null }
  const counted = (outcome: "done" | "failed" | "unavailable") =>
    Metric.update(Metric.withAttributes(runs, { job: name, outcome }), 1)

  const done = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (state.failure !== null) yield* Effect.logInfo(`The job ${name} works again`)
    state = { ...state, last_done_at: new Date(now), failure: null }
    yield* counted("done")
    yield* Metric.update(Metric.withAttributes(lastDone, { job: name }), now / 1000)
  })

  /** An unavailable database is logged once, elsewhere; any other failure is logged when it is new. */
  const failed = Effect.fnUntraced(function*(cause: Cause.Cause<JobFailure>) {
    const failure = messageOf(cause)
    const unavailable = cause.reasons.every((reason) =>
      Cause.isFailReason(reason) && reason.error instanceof ServiceUnavailable
    )
    const known = state.failure === failure
    state = { ...state, last_failed_at: new Date(yield* Clock.currentTimeMillis), failure }
    yield* counted(unavailable ? "unavailable" : "failed")
    if (unavailable || known) return
    yield* Cause.hasDies(cause)
      ? Effect.logError(`The job ${name} failed`, cause)
      : Effect.logError(`The job ${name} failed: ${failure}`)
  })

  const attempted = (run: Effect.Effect<unknown, JobFailure>): Effect.Effect<void> =>
    Effect.matchCauseEffect(
      Effect.andThen(ready, run).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(gaveUp) })
      ),
      { onSuccess: () => done, onFailure: failed }
    )

  return {
    state: () => state,
    atStart: job.atStart === undefined ? Effect.void : attempted(job.atStart),
    atEnd: job.atEnd === undefined ? Effect.void : attempted(job.atEnd),
    // One run after the other: a job never overlaps itself in one process. Replicas that started together drift apart.
    repeated: job.pause === undefined
      ? Effect.repeat(attempted(job.run), Schedule.jittered(Schedule.spaced(period)))
      : Effect.forever(Effect.andThen(attempted(job.run), job.pause))
  }
}

/** All background work of a process. */
export class Background extends Context.Service<Background, {
  /** Every job, and how its last runs ended. */
  readonly jobs: Effect.Effect<ReadonlyArray<JobState>>
}>()("org-security-console/jobs/Background") {
  /** Runs every job: immediately, and then a period after each end. */
  static readonly layer = ({ alone, ready = Effect.void, watched }: Options) =>
    Layer.effect(
      Background,
      Effect.gen(function*() {
        const all = (yield* jobs(watched)).map((job) => make(job, ready))
        for (const { atEnd, atStart, repeated } of all) {
          if (alone) {
            yield* atStart
            yield* Effect.addFinalizer(() => atEnd)
          }
          yield* Effect.forkScoped(repeated)
        }
        return { jobs: Effect.sync(() => all.map(({ state }) => state())) }
      })
    )
}
