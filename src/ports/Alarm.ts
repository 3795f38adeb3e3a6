/** Wakes the watch of this process before it would ask by itself which accounts are due. */
import { Context, Effect, Latch, Layer } from "effect"

export class Alarm extends Context.Service<Alarm, {
  /** An account is due, or is once the transaction is committed; other processes do not hear of it. */
  readonly ring: Effect.Effect<void>
  /** Waits until it has rung since this was waited for last. */
  readonly heard: Effect.Effect<void>
}>()("org-security-console/ports/Alarm") {
  static readonly layer = Layer.sync(Alarm, () => {
    const latch = Latch.makeUnsafe()
    return { ring: latch.open, heard: Effect.andThen(latch.await, latch.close) }
  })
}
