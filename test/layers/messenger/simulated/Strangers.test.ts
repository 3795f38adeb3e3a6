import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import {
  Strangers,
  strangersAtMost,
  strangersPerAccount
} from "../../../../src/layers/messenger/simulated/Strangers.ts"

const marked: Array<string> = []

const heard = Logger.layer([Logger.make(({ fiber, message }) => {
  if (fiber.getRef(References.CurrentLogAnnotations)["demo"] === "stranger") marked.push(String(message))
})])

const world = () =>
  Layer.fresh(Strangers.layer.pipe(Layer.provideMerge(Simulated.layerMemory), Layer.provideMerge(heard)))

let people = 0

const makeAccounts = (count: number) =>
  Effect.gen(function*() {
    const platform = yield* SimulatedPlatform
    return yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function*() {
        const userId = yield* platform.createAccount({ phone: `4915770${10_000 + ++people}`, first_name: "Demo" })
        yield* platform.connect(userId)
        return userId
      }))
  })

const present = Effect.flatMap(
  SimulatedPlatform,
  (platform) => Effect.map(platform.connected, (all) => all.reduce((sum, { unconfirmed }) => sum + unconfirmed, 0))
)

describe("strangers of a demo", () => {
  layer(world())((it) => {
    it.effect("come to accounts of the service alone, and to none that is frozen or unreachable", () =>
      Effect.gen(function*() {
        const platform = yield* SimulatedPlatform
        const strangers = yield* Strangers
        assert.isNull(yield* strangers.signIn)
        const [open, frozen, unreachable] = yield* makeAccounts(3)
        yield* platform.createAccount({ phone: "49157709", first_name: "Unconnected" })
        if (frozen !== undefined) yield* platform.setFrozen(frozen, true)
        if (unreachable !== undefined) yield* platform.setUnreachable(unreachable, true)
        for (let count = 0; count < strangersPerAccount; count++) assert.isNotNull(yield* strangers.signIn)
        assert.isNull(yield* strangers.signIn)
        assert.lengthOf(marked, strangersPerAccount)
        for (const line of marked) {
          assert.match(line, /^A stranger signs in to the account of \+4915770\d+: .+, .+, \w\w$/)
        }
        const connected = (yield* platform.connected).map(({ unconfirmed, userId }) => [userId, unconfirmed])
        assert.deepStrictEqual(connected, [[open, strangersPerAccount]])
      }))
  })

  layer(world())((it) => {
    it.effect("come within a minute, then after minutes, and not without end", () =>
      Effect.gen(function*() {
        const strangers = yield* Strangers
        yield* makeAccounts(strangersAtMost)
        const coming = yield* Effect.forkChild(strangers.come)
        yield* TestClock.adjust("19 seconds")
        assert.strictEqual(yield* present, 0)
        yield* TestClock.adjust("40 seconds")
        assert.strictEqual(yield* present, 1)
        yield* TestClock.adjust("2 minutes")
        assert.isAtMost(yield* present, 2)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* present, strangersAtMost)
        yield* Fiber.join(coming)
      }))
  })

  layer(Layer.fresh(Strangers.layerComing.pipe(Layer.provideMerge(Simulated.layerMemory))))((it) => {
    it.effect("come by themselves while their layer lasts", () =>
      Effect.gen(function*() {
        yield* makeAccounts(1)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* present, 1)
      }))
  })
})
