/** The messages to targets, and their failures. */
import { Effect, Schema } from "effect"
import { Checkpoint } from "../../domain/journal/Checkpoint.ts"
import { NotTaken } from "../../ports/journal/CheckpointQueue.ts"

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
