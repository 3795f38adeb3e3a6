/** A process's memory of the checkpoints outside the database: the last one that it has seen there. */
import { Context, Effect, Layer, Option, Ref, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { Checkpoint } from "../../../domain/journal/Checkpoint.ts"

const Stored = Schema.fromJsonString(Checkpoint)

export class LastCheckpoint extends Context.Service<LastCheckpoint, {
  readonly get: Effect.Effect<Option.Option<Checkpoint>>
  readonly set: (checkpoint: Checkpoint) => Effect.Effect<void>
}>()("org-security-console/layers/sql/journal/LastCheckpoint") {
  /** Remembers while the process runs. */
  static readonly layerMemory = Layer.effect(
    LastCheckpoint,
    Effect.map(Ref.make(Option.none<Checkpoint>()), (ref) =>
      LastCheckpoint.of({
        get: Ref.get(ref),
        set: (checkpoint) => Ref.set(ref, Option.some(checkpoint))
      }))
  )

  /** Remembers in the file `checkpoint-last` of the directory. */
  static readonly layerDirectory = (directory: string) => {
    const file = path.join(directory, "checkpoint-last")
    return Layer.succeed(LastCheckpoint, {
      get: Effect.suspend(() =>
        fs.existsSync(file)
          ? Effect.map(
            Effect.orDie(Schema.decodeUnknownEffect(Stored)(fs.readFileSync(file, "utf8"))),
            Option.some
          )
          : Effect.succeedNone
      ),
      set: (checkpoint) =>
        Effect.flatMap(Effect.orDie(Schema.encodeEffect(Stored)(checkpoint)), (text) =>
          Effect.sync(() => {
            fs.writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600, flush: true })
            fs.renameSync(`${file}.new`, file)
          }))
    })
  }
}
