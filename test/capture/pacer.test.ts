import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterLooks, inTurn, makePacer, otherLooks, ownLook } from "../../src/capture/Pacer.ts"

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

  it.effect("is that of the slowest where several hold", () =>
    Effect.gen(function*() {
      const shared = makePacer({ burst: 1, rate: 1 })
      let made = 0
      const accounts = [1, 2].map(() => inTurn(makePacer({ burst: 9, rate: 9 }), shared))
      yield* Effect.forEach(
        accounts,
        ({ take }) =>
          Effect.forkScoped(Effect.repeat(Effect.andThen(take, Effect.sync(() => void made++)), { times: 9 })),
        { discard: true }
      )
      yield* TestClock.adjust("4500 millis")
      expect(made).toBe(5)
    }))

  it.effect.each(
    [
      ["a look at the account for ten seconds", ownLook, "10 seconds"],
      ["looks at other accounts for a second", otherLooks, "1 second"]
    ] as const
  )("lets %s at most go before", ([_, waits, longest]) =>
    Effect.gen(function*() {
      let isLooking = true
      let made = 0
      const call = Effect.andThen(afterLooks(() => isLooking, waits).take, Effect.sync(() => void made++))
      yield* Effect.forkScoped(call)
      yield* TestClock.adjust("900 millis")
      expect(made).toBe(0)
      isLooking = false
      yield* TestClock.adjust("100 millis")
      expect(made).toBe(1)
      isLooking = true
      yield* Effect.forkScoped(call)
      yield* TestClock.adjust(longest)
      expect(made).toBe(2)
    }))
})
