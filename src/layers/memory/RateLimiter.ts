import { Clock, Effect, Layer } from "effect"
import { requestsPerMinute } from "../../domain/Limits.ts"
import * as Ports from "../../ports/index.ts"
import { state, windowMillis } from "../RateWindow.ts"

/** The number of keys that are remembered before those whose window is over are forgotten. */
const keysKept = 10_000

/** The sliding log of a process: at most 120 hits of a key in any 60 seconds. */
const makeLog = () => {
  const logs = new Map<string, Array<number>>()
  let ceiling = keysKept
  return Effect.fnUntraced(function*(key: string) {
    const now = yield* Clock.currentTimeMillis
    if (logs.size > ceiling) {
      for (const [known, hits] of logs) {
        if ((hits.at(-1) ?? 0) <= now - windowMillis) logs.delete(known)
      }
      ceiling = Math.max(keysKept, logs.size * 2)
    }
    const hits = (logs.get(key) ?? []).filter((hit) => hit > now - windowMillis)
    const admitted = hits.length < requestsPerMinute
    if (admitted) hits.push(now)
    logs.set(key, hits)
    return yield* state(admitted, hits.length, hits[0] ?? null, now)
  })
}

/** The budget of credentials in memory, for one process. */
export const layer = Layer.sync(Ports.RateLimiter, () => ({ consume: makeLog() }))
