/** Requests that may be executed only once, over connections that may be lost. */
import { Effect } from "effect"
import type { Client } from "./WireClient.ts"

/**
 * Asks for something. Where a connection was lost meanwhile the library has asked again, and a refusal may say no more
 * than that the first asking was heard: `found` says what came of it.
 */
export const once = <A, E, F>(
  client: Client,
  ask: Effect.Effect<A, E>,
  found: (refusal: E) => Effect.Effect<A, F>
): Effect.Effect<A, E | F> =>
  Effect.suspend(() => {
    const before = client.losses()
    return Effect.catchIf(ask, () => client.losses() > before, found)
  })
