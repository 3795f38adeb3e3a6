/** The codes of a demo, logged because the phones of the simulated messenger do not exist. */
import { Effect, Layer, Redacted, Schedule } from "effect"
import { demoEvent } from "./DemoEvent.ts"
import { SimulatedPlatform } from "./SimulatedPlatform.ts"

const words = { app: "in the app", sms: "by SMS", call: "by a call", email: "by e-mail" } as const

/** Logs each code once that arrives while the layer lasts. */
export const layerLogged = Layer.effectDiscard(Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const seen = new Set<string>()
  const log = (key: string, text: string) => {
    if (seen.has(key)) return Effect.void
    seen.add(key)
    return Effect.annotateLogs(Effect.logInfo(`The simulated messenger sends ${text}`), demoEvent, "code")
  }
  const look = Effect.gen(function*() {
    for (const { channel, code, phone, sentAt } of yield* platform.codes) {
      const way = channel === "other" ? "" : words[channel]
      yield* log(`${phone}/${sentAt.getTime()}`, `+${phone} the code ${Redacted.value(code)} ${way}`)
    }
    for (const { code, kind, pattern, phone, until } of yield* platform.addressCodes) {
      yield* log(
        `${phone}/${kind}/${until.getTime()}`,
        `${pattern} the code ${Redacted.value(code)} for the ${kind} email of ${
          phone === null ? "an account without a number" : `+${phone}`
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
