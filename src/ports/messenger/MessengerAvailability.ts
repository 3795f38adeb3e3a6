/** The availability of the messenger platform, where it is another machine. */
import { Context, type Effect } from "effect"

/** The data centres that did not answer when they were last tried. */
export class MessengerAvailability extends Context.Service<MessengerAvailability, {
  readonly away: Effect.Effect<ReadonlyArray<number>>
}>()("org-security-console/ports/messenger/MessengerAvailability") {}
