/** The watch over the accounts, over a core and a messenger. */
import { Duration, Layer } from "effect"
import { defaultMaxLive, defaultReviewWindow } from "../domain/Limits.ts"
import { serviceDevice } from "../domain/Messenger.ts"
import { Engine } from "../engine/Engine.ts"
import { LiveSessions } from "../engine/LiveSessions.ts"
import { LoginEndings } from "../engine/Logins.ts"
import * as Monitors from "./sql/Monitors.ts"
import * as Outages from "./sql/Outages.ts"
import * as Watch from "./sql/Watch.ts"

export interface Options {
  /** How long an admin has to approve a session; 12 hours by default. */
  readonly reviewWindow?: Duration.Input
  /** How many sessions on the messenger stay open; 1200 by default. */
  readonly maxLive?: number
}

/** Watches the accounts; `Background.layer` over it claims those that are due. */
export const layer = ({ maxLive = defaultMaxLive, reviewWindow = defaultReviewWindow }: Options = {}) =>
  Engine.layer({ reviewWindow: Duration.fromInputUnsafe(reviewWindow), device: serviceDevice }).pipe(
    Layer.provideMerge(LiveSessions.layer({ maxLive })),
    Layer.provide([Outages.layer, Watch.layer]),
    Layer.provideMerge(LoginEndings.layer),
    Layer.provideMerge(Monitors.layer)
  )
