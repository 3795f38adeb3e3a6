/** The targets of signed checkpoints: outside the database, so that its owner cannot take them back. */
import { Data, Effect, Schema } from "effect"
import { Checkpoint } from "../../domain/journal/Checkpoint.ts"

/** A target did not take the checkpoints; the reason holds no secret. */
export class NotTaken extends Data.TaggedError("NotTaken")<{ readonly reason: string }> {}

export interface PushTarget {
  /** The name in log, metrics and the database: never a secret of its address. */
  readonly name: string
  /** Succeeds once the target has all of them; what was in doubt is sent again. */
  readonly send: (checkpoints: ReadonlyArray<Checkpoint>) => Effect.Effect<void, NotTaken>
}

const encodeLine = Schema.encodeEffect(Schema.fromJsonString(Checkpoint))

/** The checkpoints as lines of JSON, without the ends of lines. */
export const lines = (checkpoints: ReadonlyArray<Checkpoint>) =>
  Effect.orDie(Effect.forEach(checkpoints, (checkpoint) => encodeLine(checkpoint)))

/** The code of a system's error alone: texts repeat addresses. */
export const notTaken = (cause: unknown): NotTaken => {
  const error = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined
  return new NotTaken({ reason: code ?? (error instanceof Error ? error.name : "unknown") })
}
