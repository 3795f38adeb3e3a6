/** Periodic background work. */
import { type Context, type Duration, Effect } from "effect"

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
export interface Work<R = never> {
  /** Waits for the next run instead, where the job knows when that is; not longer than the period. */
  readonly pause?: Effect.Effect<void>
  readonly run: Effect.Effect<unknown, JobFailure, R>
  /** The work before anything is served, where no other process uses the database. */
  readonly atStart?: Effect.Effect<unknown, JobFailure, R>
  /** The work at the end, where no other process uses the database. */
  readonly atEnd?: Effect.Effect<unknown, JobFailure, R>
}

/** One piece of background work. */
export interface Job extends Work {
  /** As metrics and `status` name it: `verb_object`. */
  readonly name: string
  readonly period: Duration.Input
}

/** A place outside the database that checkpoints are pushed to. */
export interface PushTarget<R = never> extends Work<R> {
  readonly name: string
}

/** A job as its file declares it. */
export interface Declaration<R, W = Work> extends Declared {
  readonly name: string
  /** Begins its work in this process. */
  readonly start: Effect.Effect<W, never, R>
}

type Starting<R, W> = Declared & Pick<Declaration<R, W>, "start">

const provided = <R>({ atEnd, atStart, pause, run }: Work<R>, services: Context.Context<R>): Work => {
  const within = <A, E>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services)
  return {
    run: within(run),
    ...(pause === undefined ? {} : { pause }),
    ...(atStart === undefined ? {} : { atStart: within(atStart) }),
    ...(atEnd === undefined ? {} : { atEnd: within(atEnd) })
  }
}

/** A job that remembers something between its runs, or needs a service to know what its runs are. */
export const makeWith = <R, S = never>(name: string, job: Starting<R, Work<S>>): Declaration<R | S> => ({
  ...job,
  name,
  start: Effect.flatMap(
    job.start,
    (work) => Effect.contextWith((services: Context.Context<S>) => Effect.succeed(provided(work, services)))
  )
})

/** A job for each of several targets. */
export const makeEach = <R, S = never>(
  name: string,
  job: Starting<R, ReadonlyArray<PushTarget<S>>>
): Declaration<R | S, ReadonlyArray<PushTarget>> => ({
  ...job,
  name,
  start: Effect.flatMap(
    job.start,
    (targets) =>
      Effect.contextWith((services: Context.Context<S>) =>
        Effect.succeed(targets.map((target) => ({ name: target.name, ...provided(target, services) })))
      )
  )
})

/**
 * A job whose runs are all the same.
 *
 * ```ts
 * export const forgetBrowsers = Job.make("forget_browsers", {
 *   period: "10 minutes",
 *   does: "deletes browsers that were not used for 180 days",
 *   run: Effect.flatMap(Leftovers, ({ browsers }) => browsers)
 * })
 * ```
 */
export const make = <A, E extends JobFailure, R, S = never>(
  name: string,
  { atEnd, atStart, run, ...declared }: Declared & Pick<Work<S>, "atStart" | "atEnd"> & {
    readonly run: Effect.Effect<A, E, R>
  }
) => ({
  ...makeWith(name, {
    ...declared,
    start: Effect.succeed<Work<R | S>>({
      run,
      ...(atStart === undefined ? {} : { atStart }),
      ...(atEnd === undefined ? {} : { atEnd })
    })
  }),
  run
})
