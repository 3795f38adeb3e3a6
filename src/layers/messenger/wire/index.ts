/**
 * The messenger over its own protocol: the entry `org-security-console/messenger`.
 *
 * It needs the optional peers `@mtcute/core`, `@mtcute/wasm` and `@fuman/node`.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import { loginHeld } from "../../../domain/Limits.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { MessengerArchive, type PushListener } from "../../../ports/messenger/MessengerArchive.ts"
import { MessengerAvailability } from "../../../ports/messenger/MessengerAvailability.ts"
import { MessengerKeys } from "../../../ports/messenger/MessengerKeys.ts"
import { MessengerSession, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../ports/messenger/Ownership.ts"
import * as LiveSessions from "../SessionConnections.ts"
import { Cipher } from "./Cipher.ts"
import * as Network from "./Network.ts"
import * as Pairing from "./Pairing.ts"
import * as Values from "./PlatformValues.ts"
import { addPublicKey, parsePublicKey } from "./Protocol.ts"
import * as Reopening from "./Reopening.ts"
import * as Chats from "./WireChats.ts"
import * as Client from "./WireClient.ts"
import * as Feed from "./WireFeed.ts"
import * as Login from "./WireLogin.ts"
import * as WireReading from "./WireReading.ts"
import * as Session from "./WireSession.ts"

/** The platform to connect to, and the application to connect as. */
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

/**
 * The messenger over its own protocol; its sessions' keys are kept by `MessengerKeys`. Nothing is written under the key
 * of a session but while its slot is owned; a step of a login writes for as long as it holds the login.
 */
export const layer = (
  options: Options
): Layer.Layer<
  MessengerArchive | MessengerSession | MessengerAvailability,
  PublicKeyUnusable,
  MessengerKeys | Ownership
> =>
  Layer.effectContext(
    Effect.gen(function*() {
      yield* learn(options.publicKeys)
      const keys = yield* MessengerKeys
      const ownership = yield* Ownership
      const network = yield* Network.make(options.dataCentre)
      const connect = (sessionRef: SessionRef, how: Client.Options) =>
        Effect.provideContext(Client.make(options, sessionRef, how), Context.make(MessengerKeys, keys))
      const own = (sessionRef: SessionRef, slot: Slot | undefined, how: Omit<Client.Options, "line">) =>
        Effect.suspend(() =>
          connect(sessionRef, { ...how, line: network.line(() => ownership.term(slot), { atOnce: how.anew }) })
        )
      const clients = new Map<SessionRef, Client.Client>()
      const listeners = new Map<SessionRef, Set<PushListener>>()
      const live = LiveSessions.make(Effect.fnUntraced(function*(sessionRef, push, slot) {
        const unasked = (update: Client.Unasked) => {
          for (const event of Values.events(update)) push(event)
          for (const { pushed } of listeners.get(sessionRef) ?? []) Feed.pushesOf(update).forEach(pushed)
        }
        const client = yield* Reopening.make(own(sessionRef, slot, { anew: false, unasked }))
        clients.set(sessionRef, client)
        yield* Effect.addFinalizer(() => Effect.sync(() => void clients.delete(sessionRef)))
        return {
          ...Session.make(client),
          pair: Pairing.pair(client, (other) => own(other, slot, { anew: true }))
        }
      }))
      const messenger = MessengerSession.of({
        open: live.open,
        forget: (sessionRef) => Effect.mapError(keys.erase(sessionRef), () => new PlatformUnavailable()),
        ...Login.make((sessionRef, anew) =>
          Effect.suspend(() =>
            connect(sessionRef, { anew, line: network.line(Network.rightFor(loginHeld), { atOnce: true }) })
          )
        )
      })
      const feed = Effect.fnUntraced(function*(sessionRef: SessionRef, slot?: Slot, listener?: PushListener) {
        if (listener !== undefined) {
          const known = listeners.get(sessionRef) ?? new Set()
          listeners.set(sessionRef, known.add(listener))
          yield* Effect.addFinalizer(() => Effect.sync(() => void known.delete(listener)))
        }
        // The platform pushes over the session's own connection.
        yield* live.hold(sessionRef, slot, () => listener?.ended())
        return Feed.makeFeed(clients.get(sessionRef) ?? (yield* new PlatformUnavailable()))
      })
      const readings = yield* WireReading.make(
        options,
        (slot) => network.line(() => ownership.term(slot), { atOnce: false, reading: true })
      )
      const archive = MessengerArchive.of({
        feed,
        read: (sessionRef, slot) => Effect.sync(() => Chats.makeReader(readings({ sessionRef, slot })))
      })
      return Context.make(MessengerSession, messenger).pipe(
        Context.add(MessengerArchive, archive),
        Context.add(MessengerAvailability, MessengerAvailability.of({ away: network.away }))
      )
    })
  )
export type * as Types from "../../../Types.ts"
