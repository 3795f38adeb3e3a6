/** A world whose clock runs late until somebody sets it: what happens in it then has happened long ago. */
import { Clock, Effect, Layer } from "effect"
import * as DataCentre from "./index.ts"

const real = Clock.Clock.defaultValue()

export const late = (centres = 1) => {
  const behind = { millis: 0 }
  const millis = () => real.currentTimeMillisUnsafe() - behind.millis
  const nanos = () => BigInt(millis()) * 1_000_000n
  const clock: Clock.Clock = {
    ...real,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => real.sleep(duration)
  }
  return { behind, millis, layer: Layer.provideMerge(DataCentre.layerWith(centres), Layer.succeed(Clock.Clock, clock)) }
}
