import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Conversations } from "../../../../src/layers/messenger/simulated/Conversations.ts"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import { SimulatedChats } from "../../../../src/layers/messenger/simulated/SimulatedChats.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"

const goingOn = Layer.fresh(Conversations.layerGoingOn.pipe(Layer.provideMerge(Simulated.layerMemory)))

describe("conversations of a demo", () => {
  layer(goingOn)((it) => {
    it.effect("go on by themselves while their layer lasts, with accounts of the service alone", () =>
      Effect.gen(function*() {
        const platform = yield* SimulatedPlatform
        const chats = yield* SimulatedChats
        const [connected, other] = [
          yield* platform.createAccount({ phone: "49157701", first_name: "Demo" }),
          yield* platform.createAccount({ phone: "49157702", first_name: "Unconnected" })
        ]
        yield* platform.connect(connected)
        const seen = Effect.map(chats.visible(connected), (messages) => messages.length)
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(yield* seen, 0)
        yield* TestClock.adjust("10 seconds")
        const begun = yield* chats.visible(connected)
        assert.lengthOf(new Set(begun.map(({ chatId }) => chatId)), 3)
        yield* TestClock.adjust("5 minutes")
        assert.isAbove(yield* seen, begun.length + 10)
        assert.lengthOf(yield* chats.visible(other), 0)
        // They end, so that an archive that nobody reads stays small.
        yield* TestClock.adjust("1 day")
        const all = yield* seen
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* seen, all)
      }))
  })
})
