/** The background work of a process that opens the database itself. */
import { Duration, type Effect, Layer, Option, Redacted } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import * as Engine from "../engine/Background.ts"
import { Targets } from "../layers/push/Targets.ts"
import * as Upkeep from "../layers/sql/Upkeep.ts"
import * as Worker from "../layers/Worker.ts"
import * as Environment from "./Environment.ts"
import type * as Settings from "./Settings.ts"

/** Everything that background work can be told. */
export interface BackgroundSettings extends Settings.Database, Settings.Mail {
  readonly checkpointPush: Option.Option<Redacted.Redacted>
}

/** Where the settings say that checkpoints are pushed. */
export const targets = ({ checkpointPush }: BackgroundSettings) =>
  Targets.make(Option.getOrElse(checkpointPush, () => Redacted.make("")))

/** Watching accounts: what a process with a messenger does besides. */
export const watch = ({ maxLive, reviewWindow }: Settings.Watching) =>
  Worker.layer({ maxLive, reviewWindow: Duration.minutes(reviewWindow) })

/** All of it, from when the database is ready. */
export const layer = (
  settings: BackgroundSettings,
  options: { readonly targets: Targets["Service"]; readonly ready?: Effect.Effect<void, ServiceUnavailable> }
) =>
  Engine.Background.layer({
    alone: Environment.isEmbedded(settings),
    ...(options.ready === undefined ? {} : { ready: options.ready })
  }).pipe(Layer.provide(Upkeep.layer), Layer.provide(Layer.succeed(Targets, options.targets)))
