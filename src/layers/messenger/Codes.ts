/** The codes of a demo: nobody holds the phones of its simulated world, so that the process says what arrives at them. */
import { Effect, Layer, Redacted, Schedule } from "effect"
import { SimulatedPlatform } from "./SimulatedPlatform.ts"

const words = { app: "in the app", sms: "by SMS", call: "by a call", email: "by e-mail" } as const

/** Says each code once that arrives while the layer lasts. */
export const layerTold = Layer.effectDiscard(Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const told = new Set<string>()
  const look = Effect.gen(function*() {
    for (const { channel, code, phone, sentAt } of yield* platform.codes) {
      const key = `${phone}/${sentAt.getTime()}`
      if (told.has(key)) continue
      told.add(key)
      yield* Effect.logInfo(
        `The simulated messenger sends +${phone} the code ${Redacted.value(code)} ${
          channel === "other" ? "" : words[channel]
        }`
      )
    }
  })
  yield* look.pipe(
    Effect.catchCause((cause) => Effect.logWarning("The codes of the demo could not be read", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )
}))
