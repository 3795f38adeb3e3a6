/** Whether the platform can be reached at all, where it is reached over a network. */
import { Context, type Effect } from "effect"

/** Of the data centres that were tried, the ones that did not answer the last time. */
export class MessengerReach extends Context.Service<MessengerReach, {
  readonly away: Effect.Effect<ReadonlyArray<number>>
}>()("org-security-console/ports/MessengerReach") {}
