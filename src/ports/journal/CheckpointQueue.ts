/**
 * The targets of signed checkpoints: outside the database, so that its owner cannot take them back. The table of
 * checkpoints is the queue, and a cursor for each target moves on only after it has taken them.
 */
import { Context, Data, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Checkpoint } from "../../domain/journal/Checkpoint.ts"

/** A target did not take the checkpoints; the reason holds no secret. */
export class NotTaken extends Data.TaggedError("NotTaken")<{ readonly reason: string }> {}

export interface PushTarget {
  /** The name in log, metrics and the database: never a secret of its address. */
  readonly name: string
  /** Succeeds once the target has all of them; what was in doubt is sent again. */
  readonly send: (checkpoints: ReadonlyArray<Checkpoint>) => Effect.Effect<void, NotTaken>
}

/** The last checkpoint that a target has taken, and its failures since. */
export interface PushCursor {
  readonly number: number
  readonly failures: number
}

export class CheckpointQueue extends Context.Service<CheckpointQueue, {
  /** The targets of this process. */
  readonly targets: ReadonlyArray<PushTarget>
  /**
   * Takes the target for this process until a moment, if anything is to be sent, with the next checkpoints; null where
   * another process has it, or its pause is not over.
   */
  take(name: string, now: Date, until: Date, limit: number): Effect.Effect<
    { readonly cursor: PushCursor; readonly checkpoints: ReadonlyArray<Checkpoint> } | null,
    ServiceUnavailable
  >
  /** Gives back what was taken until the moment; nothing where this process no longer has it. */
  giveBack(name: string, until: Date, cursor: PushCursor, freeAt: Date): Effect.Effect<void, ServiceUnavailable>
  /** Measures for how long the oldest checkpoint has waited that the target has not taken. */
  measure(name: string): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/journal/CheckpointQueue") {}
