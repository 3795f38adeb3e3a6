import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePacer } from "../../src/capture/Pacer.ts"

describe("the rate of calls", () => {
  it.effect("lets some through at once and the others one after the other", () =>
    Effect.gen(function*() {
      const pacer = makePacer({ burst: 3, rate: 2 })
      let made = 0
      const calls = yield* Effect.forkChild(
        Effect.repeat(Effect.andThen(pacer.take, Effect.sync(() => void made++)), { times: 9 })
      )
      for (const expected of [3, 4, 5, 6, 7]) {
        yield* TestClock.adjust(expected === 3 ? 0 : "500 millis")
        expect(made).toBe(expected)
      }
      yield* Fiber.interrupt(calls)
    }))

  it.effect("goes on where the clock is set back", () =>
    Effect.gen(function*() {
      const pacer = makePacer({ burst: 1, rate: 1 })
      yield* TestClock.setTime(86_400_000)
      yield* pacer.take
      yield* TestClock.setTime(0)
      const call = yield* Effect.forkChild(pacer.take)
      yield* TestClock.adjust("1 second")
      expect(call.pollUnsafe()?._tag).toBe("Success")
    }))
})
