/**
 * The messenger over its own protocol: the entry `org-security-console/messenger`.
 *
 * It needs the optional peers `@mtcute/core`, `@mtcute/wasm` and `@fuman/node`.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { SessionRef } from "../domain/Messenger.ts"
import * as LiveSessions from "../layers/messenger/LiveSessions.ts"
import { MessengerKeys } from "../ports/MessengerKeys.ts"
import { MessengerSession, PlatformUnavailable } from "../ports/MessengerSession.ts"
import { Cipher } from "./Cipher.ts"
import * as Client from "./Client.ts"
import * as Login from "./Login.ts"
import * as Pairing from "./Pairing.ts"
import { addPublicKey, parsePublicKey } from "./Protocol.ts"
import * as Reopening from "./Reopening.ts"
import * as Session from "./Session.ts"
import * as Values from "./Values.ts"

/** How the platform is reached, and as which application. */
export interface Options extends Client.Platform {
  /** The keys that data centres prove themselves with, in PEM (PKCS #1). */
  readonly publicKeys: ReadonlyArray<string>
}

/** A key that a data centre proves itself with is none, or one that the library never finds. */
export class PublicKeyUnusable extends Schema.TaggedError<PublicKeyUnusable>()("PublicKeyUnusable", {
  message: Schema.String
}) {}

/** Teaches the library the keys; it does not find one whose fingerprint begins with a zero, and would wait for ever. */
const learn = (publicKeys: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const cipher = new Cipher()
    cipher.initialize()
    for (const [at, key] of publicKeys.entries()) {
      const unusable = (message: string) => new PublicKeyUnusable({ message: `The public key ${at + 1} ${message}` })
      const { fingerprint } = yield* Effect.try({
        try: () => parsePublicKey(cipher, key),
        catch: () => unusable("is no RSA key in PEM (PKCS #1)")
      })
      if (fingerprint.startsWith("0")) return yield* unusable("has a fingerprint that begins with a zero")
      addPublicKey(cipher, key)
    }
  })

/** The messenger over its own protocol; its sessions' keys are kept by `MessengerKeys`. */
export const layer = (options: Options): Layer.Layer<MessengerSession, PublicKeyUnusable, MessengerKeys> =>
  Layer.effect(
    MessengerSession,
    Effect.gen(function*() {
      yield* learn(options.publicKeys)
      const keys = yield* MessengerKeys
      const connect = (sessionRef: SessionRef, how: Client.Options) =>
        Effect.provideContext(Client.make(options, sessionRef, how), Context.make(MessengerKeys, keys))
      const live = LiveSessions.make(Effect.fnUntraced(function*(sessionRef, push) {
        const unasked = (update: Client.Unasked) => {
          for (const event of Values.events(update)) push(event)
        }
        const client = yield* Reopening.make(connect(sessionRef, { anew: false, unasked }))
        return {
          ...Session.make(client),
          pair: Pairing.pair(client, (other) => connect(other, { anew: true }))
        }
      }))
      return {
        ...live,
        forget: (sessionRef) => Effect.mapError(keys.erase(sessionRef), () => new PlatformUnavailable()),
        ...Login.make((sessionRef, anew) => connect(sessionRef, { anew }))
      }
    })
  )
