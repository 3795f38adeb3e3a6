/** Jobs by hand: one run after another, or the signing of journals. */
import { Effect } from "effect"
import type { Declaration } from "../../src/jobs/Job.ts"
import * as SignCheckpoints from "../../src/jobs/journal/sign_checkpoints.ts"
import * as CheckpointSigning from "../../src/layers/sql/journal/CheckpointSigning.ts"

/** Begins a job that remembers something between its runs, and answers one run of it. */
export const begin = <R>(job: Declaration<R>) => Effect.map(job.start, ({ run }) => run)

/** Signs with the keys, and the memory of the last checkpoint, that are given here. */
export const sign = (all: boolean) =>
  Effect.provide(SignCheckpoints.sign(all), CheckpointSigning.layer, { local: true })
