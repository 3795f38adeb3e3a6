import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { TestClock } from "effect/testing"
import * as Codes from "../../../../src/layers/messenger/simulated/Codes.ts"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import { arrange } from "./simulation.ts"

const said: Array<string> = []
const kinds = new Set<unknown>()
const heard = Logger.layer([Logger.make(({ fiber, message }) => {
  said.push(String(message))
  kinds.add(fiber.getRef(References.CurrentLogAnnotations)["demo"])
})])

describe("the codes of a demo", () => {
  layer(Layer.fresh(Codes.layerLogged.pipe(Layer.provideMerge(Simulated.layerMemory), Layer.provide(heard))))((it) => {
    it.effect("that go to an address are logged once each, and a new one again", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const code = Effect.map(platform.emailCode(userId, "recovery"), (sent) =>
          sent === null ? null : Redacted.value(sent))
        const current = Redacted.make("a long password")
        yield* platform.changeSecurity(userId, { two_fa_password: current })
        const ask = live.setRecoveryEmail({ email: "jane@example.com", current })
        yield* ask
        const first = yield* code
        yield* TestClock.adjust("5 seconds")
        yield* ask
        const second = yield* code
        yield* TestClock.adjust("5 seconds")
        expect(said.map((text) =>
          text.replace(/\+\d+/, "+1")
        )).toEqual([first, second].map((sent) =>
          `The simulated messenger sends j*****e@example.com the code ${sent} for the recovery email of +1`
        ))
        expect([...kinds]).toEqual(["code"])
      }))
  })
})
