/** Strangers who sign in to accounts of the simulated platform now and then, so that a demo has something to show. */
import { Array, Context, Duration, Effect, Layer, Random } from "effect"
import { firstStranger } from "../../../domain/Limits.ts"
import type { AuthorizationId } from "../../../domain/messenger/Messenger.ts"
import { demoEvent } from "./DemoEvent.ts"
import { type Device, SimulatedPlatform } from "./SimulatedPlatform.ts"

/** The number that sign in while a process runs. */
export const strangersAtMost = 40

/** The number of sign-ins to one account that wait for their confirmation at most, over all starts. */
export const strangersPerAccount = 3

const later = { from: Duration.minutes(2), to: Duration.minutes(6) }

const devices: Array.NonEmptyReadonlyArray<Device> = [
  {
    device_model: "Galaxy S25",
    platform: "Android 16",
    app_name: "Messenger for Android",
    app_version: "12.5",
    ip: "198.51.100.17",
    country: "PT"
  },
  {
    device_model: "iPhone 17",
    platform: "iOS 26.1",
    app_name: "Messenger for iOS",
    app_version: "12.4",
    ip: "198.51.100.82",
    country: "PL"
  },
  {
    device_model: "Firefox",
    platform: "Windows 11",
    app_name: "Messenger Web",
    app_version: "4.0",
    ip: "203.0.113.199",
    country: "VN"
  },
  {
    device_model: "Server",
    platform: "Linux",
    app_name: "Organization Security Console",
    ip: "192.0.2.66",
    country: "BR"
  }
]

const between = ({ from, to }: typeof later) =>
  Effect.map(
    Random.nextBetween(Duration.toMillis(from), Duration.toMillis(to)),
    (millis) => Duration.millis(Math.round(millis))
  )

/** The strangers of a demo; they change only the simulated messenger. */
export class Strangers extends Context.Service<Strangers, {
  /** One of them signs in to one of the accounts, unless each has enough of them. */
  readonly signIn: Effect.Effect<AuthorizationId | null>
  /** They come from now on: the first within a minute, the others after minutes each, a bounded number of them. */
  readonly come: Effect.Effect<void>
}>()("org-security-console/layers/messenger/simulated/Strangers") {
  static readonly layer = Layer.effect(
    Strangers,
    Effect.gen(function*() {
      const platform = yield* SimulatedPlatform
      const signIn = Effect.gen(function*() {
        const open = (yield* platform.connected).filter(({ unconfirmed }) => unconfirmed < strangersPerAccount)
        if (!Array.isReadonlyArrayNonEmpty(open)) return null
        const { phone, userId } = yield* Random.choice(open)
        const device = yield* Random.choice(devices)
        const id = yield* platform.logIn(userId, device)
        yield* Effect.annotateLogs(
          Effect.logInfo(
            `A stranger signs in to the account of +${phone}: ${device.device_model}, ${device.platform}, ${device.country}`
          ),
          demoEvent,
          "stranger"
        )
        return id
      })
      return Strangers.of({
        signIn,
        come: Effect.gen(function*() {
          yield* Effect.sleep(yield* between(firstStranger))
          for (let count = 0; count < strangersAtMost; count++) {
            yield* Effect.catchCause(
              signIn,
              (cause) => Effect.logWarning("A stranger of the demo could not sign in", cause)
            )
            yield* Effect.sleep(yield* between(later))
          }
        })
      })
    })
  )

  /** They come for as long as the layer lasts. */
  static readonly layerComing = Layer.effectDiscard(
    Effect.flatMap(Strangers, ({ come }) => Effect.forkScoped(come))
  ).pipe(Layer.provideMerge(Strangers.layer))
}
