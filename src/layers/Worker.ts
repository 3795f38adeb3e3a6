/** The watch over the accounts, over a core and a messenger. */
import { Duration, Effect, Layer } from "effect"
import { Capture } from "../capture/Capture.ts"
import { OpenArchives } from "../capture/OpenArchives.ts"
import type { Pace } from "../capture/Pacer.ts"
import {
  defaultArchiveRate,
  defaultArchiveRuns,
  defaultComparedDays,
  defaultMaxLive,
  defaultReviewWindow,
  mediaPartsPerSecond
} from "../domain/Limits.ts"
import { serviceDevice } from "../domain/messenger/Messenger.ts"
import * as Outages from "../jobs/protection/MessengerOutages.ts"
import { LiveSessions } from "../messenger/OpenSessions.ts"
import { LoginEndings } from "../protection/LoginEndings.ts"
import { Engine } from "../protection/PollLoop.ts"
import { RefusalLog } from "../protection/RefusalLog.ts"
import * as SessionOpening from "../protection/SessionOpening.ts"
import * as Monitors from "./sql/protection/Monitors.ts"
import * as Watch from "./sql/protection/MonitorStore.ts"

export interface Options {
  /** The time that an admin has to approve a session; 12 hours by default. */
  readonly reviewWindow?: Duration.Input
  /** The number of sessions on the messenger that stay open; 3000 by default. */
  readonly maxLive?: number
  /** The rate of calls that read chats, of each account; 1 a second and 5 at once by default. */
  readonly archivePace?: Pace
  /** The rate at which parts of files are read, each 1 MiB at most, of the whole process; 20 a second by default. */
  readonly mediaPace?: Pace
  /** The number of runs over archives at the same time; 32 by default. */
  readonly archiveRuns?: number
  /** The age of archived messages that are compared again after changes were lost, null for all; 30 days by default. */
  readonly comparedAge?: Duration.Duration | null
}

/** Calls of an archive's run to the messenger, as it bears them. */
export const defaultArchivePace: Pace = { rate: defaultArchiveRate, burst: 5 }

/** Parts of files: decrypting them takes a core's time, which the watch needs. */
export const defaultMediaPace: Pace = { rate: mediaPartsPerSecond, burst: 4 }

/** Watches the accounts and archives their chats; `Background.layer` over it claims those that are due. */
export const layer = (
  {
    archivePace = defaultArchivePace,
    archiveRuns = defaultArchiveRuns,
    comparedAge = Duration.days(defaultComparedDays),
    maxLive = defaultMaxLive,
    mediaPace = defaultMediaPace,
    reviewWindow = defaultReviewWindow
  }: Options = {}
) =>
  Layer.unwrap(
    Effect.map(Engine, ({ isLooking }) =>
      Capture.layer({ comparedAge, isLooking, maxLive, mediaPace, pace: archivePace, runs: archiveRuns }))
  ).pipe(
    Layer.provide(OpenArchives.layer),
    Layer.provideMerge(
      Engine.layer({ reviewWindow: Duration.fromInputUnsafe(reviewWindow), device: serviceDevice })
    ),
    Layer.merge(SessionOpening.layer({ maxLive })),
    Layer.provideMerge(LiveSessions.layer({ maxLive })),
    Layer.provide([Outages.layer, RefusalLog.layer, Watch.layer]),
    Layer.provideMerge(LoginEndings.layer),
    Layer.provideMerge(Monitors.layer)
  )
