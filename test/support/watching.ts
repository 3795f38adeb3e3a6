/** The watch over accounts in tests: time moves from one due moment to the next. */
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../src/engine/Engine.ts"

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** Moves time on, and runs everything at the moment that it is due. */
export const advance = Effect.fnUntraced(function*(duration: Duration.Input) {
  const engine = yield* Engine
  const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(duration))
  let signedOut = (yield* engine.tick).signedOut
  while (true) {
    const due = yield* engine.nextDue
    const next = due === null ? end : Math.min(due.getTime(), end)
    yield* TestClock.setTime(Math.max(next, (yield* now).getTime()))
    signedOut += (yield* engine.tick).signedOut
    if (next >= end) return signedOut
  }
})

/** Jumps so far at once, and runs what is due then; whoever died holding an account has let go of it by then. */
export const jump = Effect.fnUntraced(function*(duration: Duration.Input) {
  const engine = yield* Engine
  yield* TestClock.adjust(duration)
  return (yield* engine.tick).signedOut
})
