/** The background work of a process that opens the database itself. */
import { Clock, Duration, Effect, Layer, Option, Redacted, Struct } from "effect"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import { unpolledReported } from "../../domain/Limits.ts"
import { isOlder } from "../../domain/protection/PollFacts.ts"
import * as Engine from "../../jobs/Background.ts"
import { watchAccounts } from "../../jobs/protection/watch_accounts.ts"
import * as Console from "../../layers/Console.ts"
import { Targets } from "../../layers/push/Targets.ts"
import * as Polls from "../../layers/sql/protection/Polls.ts"
import * as Worker from "../../layers/Worker.ts"
import { Ownership } from "../../ports/messenger/Ownership.ts"
import type { WatchState } from "../../transport/TransportSettings.ts"
import type * as Settings from "../settings/Settings.ts"
import * as Environment from "./Environment.ts"

/** The settings of the background work. */
export interface BackgroundSettings extends Settings.Database {
  readonly checkpointPush: Option.Option<Redacted.Redacted>
}

/** The target for checkpoints, from the settings. */
export const targets = ({ checkpointPush }: BackgroundSettings) =>
  Targets.make(Option.getOrElse(checkpointPush, () => Redacted.make("")))

type WorkerSettings = Pick<Settings.WatchSettings, "maxLive" | "reviewWindow"> & Settings.ArchiveSettings

/** The options of the watch, from the settings. */
export const watchOptions = (settings: WorkerSettings) =>
  ({
    maxLive: settings.maxLive,
    reviewWindow: Duration.minutes(settings.reviewWindow),
    archiveRuns: settings.archiveRuns,
    archivePace: { ...Worker.defaultArchivePace, rate: settings.archiveRate },
    mediaPace: { ...Worker.defaultMediaPace, rate: settings.archiveMediaRate },
    comparedAge: settings.archiveRecheck === 0 ? null : Duration.days(settings.archiveRecheck)
  }) satisfies Worker.Options

/** Watching accounts: what a process with a messenger does besides. */
export const watch = (settings: WorkerSettings) => Worker.layer(watchOptions(settings))

/** The age of the last round of a process that watches at most. */
const oldestRound = Duration.seconds(30)

/** The time that it is remembered whether any process polls. */
const polledKept = Duration.seconds(5)

/**
 * Whether the process watches, or any where this one does not. A worker fails where it should watch and does not, and
 * where none does.
 */
export const watching = Effect.fnUntraced(function*({ watched }: Pick<Engine.Options, "watched">) {
  const { jobs } = yield* Engine.Background
  const { owned } = yield* Ownership
  const services = yield* Effect.context<Effect.Services<typeof Polls.waitingSince>>()
  const started = new Date(yield* Clock.currentTimeMillis)
  const waitingSince = yield* Effect.cachedWithTTL(Effect.provideContext(Polls.waitingSince, services), polledKept)
  const nobodyWatches = Effect.gen(function*() {
    const now = new Date(yield* Clock.currentTimeMillis)
    return isOlder(started, unpolledReported, now) && isOlder(yield* waitingSince, unpolledReported, now)
  })
  // @effect-diagnostics-next-line returnEffectInGen:off -- what asks is what is made
  return Effect.gen(function*() {
    const job = (yield* jobs).find(({ name }) => name === watchAccounts.name)
    if (job === undefined) return watched === true && (yield* nobodyWatches) ? "none" : null
    const now = yield* Clock.currentTimeMillis
    const late = job.last_done_at === null || now - job.last_done_at.getTime() > Duration.toMillis(oldestRound)
    if (late || (yield* nobodyWatches)) return yield* new ServiceUnavailable({})
    return (owned().size === 0 ? "standby" : "active") satisfies WatchState
  })
})

/** All of it, from when the database is ready. */
export const layer = (
  settings: BackgroundSettings,
  options:
    & { readonly targets: Targets["Service"] }
    & Pick<Engine.Options, "ready" | "watched">
) =>
  Console.layerBackground({
    alone: Environment.isEmbedded(settings),
    ...Struct.omit(options, ["targets"])
  }).pipe(Layer.provide(Layer.succeed(Targets, options.targets)))
