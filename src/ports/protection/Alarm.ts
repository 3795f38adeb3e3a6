/** Wakes the monitoring of this process before its next query for due accounts. */
import { Context, Effect, Latch, Layer } from "effect"

export class Alarm extends Context.Service<Alarm, {
  /** An account is due, or is once the transaction is committed; other processes are notified where possible. */
  readonly ring: Effect.Effect<void>
  /** Another process has rung. */
  readonly wake: Effect.Effect<void>
  /** Waits until it has rung, here or in another process, since this was waited for last. */
  readonly heard: Effect.Effect<void>
  /** Waits until it has rung here since this was waited for last. */
  readonly rung: Effect.Effect<void>
}>()("org-security-console/ports/protection/Alarm") {
  static readonly layer = Layer.sync(Alarm, () => {
    const here = Latch.makeUnsafe()
    const any = Latch.makeUnsafe()
    return {
      ring: Effect.andThen(here.open, any.open),
      wake: any.open,
      heard: Effect.andThen(any.await, any.close),
      rung: Effect.andThen(here.await, here.close)
    }
  })
}
