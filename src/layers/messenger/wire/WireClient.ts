/** One session's connection to the platform, for as long as a scope lasts. */
import { Clock, Deferred, Duration, Effect, Random, Redacted, type Scope } from "effect"
import { serviceDevice, type SessionRef } from "../../../domain/messenger/Messenger.ts"
import { MessengerKeys } from "../../../ports/messenger/MessengerKeys.ts"
import { type MessengerFailure, NoSession, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import { Cipher } from "./Cipher.ts"
import type { SessionLine } from "./Network.ts"
import * as Refusals from "./PlatformRefusals.ts"
import { type Address, isRefusal, type wire, WireClient, type WireStorage } from "./Protocol.ts"
import * as Storage from "./Storage.ts"

/** The platform to connect to, and the application to connect as. */
export interface Platform {
  readonly applicationId: number
  readonly applicationHash: Redacted.Redacted
  /** The data centre that is connected to first; the platform names the others. */
  readonly dataCentre: Address
  /** The names under which the holder sees the service. */
  readonly version: string
}

/** The meanings of refusals' texts and codes, where a request has meanings of its own for them. */
export type Meanings<E> = Readonly<Record<string, () => E>>

/** The failure that a refusal means for a request. */
export const meaningOf = <E>(
  { code, text }: Refusals.PlatformRefusal,
  meanings: Meanings<E> = {}
): MessengerFailure | E => (meanings[text] ?? meanings[code])?.() ?? Refusals.common({ code, text })

export interface Client {
  readonly application: { readonly id: number; readonly hash: string }
  /** Calls the platform; it waits for as long as the caller does, and translates refusals. */
  call<M extends wire.RpcMethod, E = never>(
    request: M,
    meanings?: Meanings<E>
  ): Effect.Effect<wire.RpcCallReturn[M["_"]], MessengerFailure | E>
  /** Goes on at another data centre, under a key of its own there. */
  moveTo(dataCentre: number): Effect.Effect<void, MessengerFailure>
  /** True if the platform has reported that it does not know the key: no more calls are made over this connection. */
  isDoubted(): boolean
  /** The number of connections that the session has lost so far: their calls are sent again. */
  losses(): number
  /** Forgets the session's key: the service has signed out itself. */
  readonly loggedOut: Effect.Effect<void, MessengerFailure>
}

/** A push of the platform; `again` after a lost connection, during which there were no pushes. */
export type Unasked = wire.TypeUpdates | "again"

export interface Options {
  readonly line: SessionLine
  /** Makes a key where the session has none. */
  readonly anew: boolean
  /** Absent, the platform sends no pushes. */
  readonly unasked?: (update: Unasked) => void
}

/** The time that a key which the platform reports as unknown is not used: such reports are sometimes temporary. */
const doubt = Duration.seconds(30)

/** Between tries to connect, in milliseconds: each twice as long as the one before. */
const shortestPause = 1000
const longestPause = 10_000

const cipher = new Cipher()

/** The stored keys; while they are unavailable, the platform counts as unavailable too. */
const available = Effect.map(MessengerKeys, (keys) => {
  const away = Effect.mapError(() => new PlatformUnavailable())
  return {
    load: (sessionRef: SessionRef) => away(keys.load(sessionRef)),
    save: keys.save,
    doubt: (sessionRef: SessionRef, at: Date | null) => away(keys.doubt(sessionRef, at)),
    erase: (sessionRef: SessionRef) => away(keys.erase(sessionRef))
  }
})

/**
 * Ends the library's list of the last thousand requests of a session, which takes 170 KiB, and by which it only words
 * warnings that nobody sees.
 */
const forgetRequests = ({ network }: WireClient) => {
  for (const { _session: { recentOutgoingMsgIds } } of network["_primaryDc"]?.main._connections ?? []) {
    recentOutgoingMsgIds.clear()
    recentOutgoingMsgIds.add = () => {}
  }
}

/** The library's client over a line, for as long as the scope lasts; without pushes it is for asking alone. */
export const openLibrary = Effect.fnUntraced(function*(
  platform: Platform,
  { line, pushes, storage }: {
    readonly line: SessionLine
    readonly storage: WireStorage
    readonly pushes: boolean
  }
) {
  const spread = yield* Random.nextBetween(0.5, 1.5)
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const client = new WireClient({
        apiId: platform.applicationId,
        apiHash: Redacted.value(platform.applicationHash),
        storage,
        storageOptions: { cleanup: false },
        crypto: cipher,
        platform: {
          beforeExit: () => () => {},
          log: () => {},
          getDefaultLogLevel: () => 0,
          getDeviceModel: () => serviceDevice.device_model
        },
        transport: line.transport,
        defaultDcs: { main: platform.dataCentre, media: platform.dataCentre },
        initConnectionOptions: {
          deviceModel: serviceDevice.device_model,
          systemVersion: serviceDevice.platform,
          appVersion: platform.version,
          systemLangCode: "en",
          langCode: "en"
        },
        disableUpdates: !pushes,
        // The library waits for nothing and repeats nothing by itself: the caller decides.
        network: { middlewares: [], connectionCount: () => 1 },
        reconnectionStrategy: ({ previousWait }) =>
          previousWait === null
            ? 0
            : Math.min(longestPause * spread, Math.max(shortestPause * spread, 2 * previousWait)),
        onError: () => {}
      })
      client.onUsable.add(() => forgetRequests(client))
      return client
    }),
    (client) =>
      Effect.promise(() => {
        line.cut()
        return client.disconnect().then(() => client.destroy()).catch(() => {})
      })
  )
})

/** Connects to the platform under the key of the session. */
export const make = Effect.fnUntraced(function*(
  platform: Platform,
  sessionRef: SessionRef,
  { anew, line, unasked }: Options
): Effect.fn.Return<Client, MessengerFailure, MessengerKeys | Scope.Scope> {
  const keys = yield* available
  const kept = yield* keys.load(sessionRef)
  if (kept === null && !anew) return yield* new NoSession({ reason: "never" })
  let isDoubted = false
  let doubtedAt = kept?.doubtedAt ?? null
  const now = yield* Clock.currentTimeMillis
  if (doubtedAt !== null && now - doubtedAt.getTime() < Duration.toMillis(doubt)) {
    return yield* new PlatformUnavailable()
  }

  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const ended = yield* Deferred.make<never, MessengerFailure>()
  /** The library sends calls that were made before it had a key up to a second after it has one. */
  const keyed = yield* Deferred.make<void>()
  if (kept !== null && [...kept.values.keys()].some(Storage.isKey)) yield* Deferred.succeed(keyed, undefined)
  /** The platform does not know the key: once that is a doubt, and after a while it is the end. */
  const doubted = Effect.gen(function*() {
    const reason = doubtedAt !== null ? new NoSession({ reason: "revoked" }) : new PlatformUnavailable()
    isDoubted = doubtedAt === null
    if (doubtedAt === null) yield* keys.doubt(sessionRef, new Date(yield* Clock.currentTimeMillis))
    yield* Deferred.fail(ended, reason)
    yield* disconnected
  })

  const storage = Storage.make(kept, {
    save: (name, value, seen) =>
      run(
        Effect.flatMap(keys.save(sessionRef, name, Redacted.make(value), seen), (saved) =>
          saved ? Effect.void : Effect.die(new Error("Another process has the messenger session"))).pipe(
            Effect.ensuring(Storage.isKey(name) ? Deferred.succeed(keyed, undefined) : Effect.void)
          )
      ),
    doubted: () => void run(Effect.ignore(doubted))
  })

  const client = yield* openLibrary(platform, { line, storage, pushes: unasked !== undefined })
  const disconnected = Effect.promise(() => {
    line.cut()
    return client.disconnect().catch(() => {})
  })
  if (unasked !== undefined) {
    let isFirst = true
    client.onUpdate.add(unasked)
    client.onUsable.add(() => {
      if (!isFirst) unasked("again")
      isFirst = false
    })
  }
  yield* Effect.tryPromise({ try: () => client.connect(), catch: () => new PlatformUnavailable() })

  const known = Effect.suspend(() => {
    if (doubtedAt === null) return Effect.void
    doubtedAt = null
    return keys.doubt(sessionRef, null)
  })

  /**
   * A session that has ended leaves its connection immediately: the next one to open it must not find the key in use.
   */
  const failed = <E>(failure: E | MessengerFailure): Effect.Effect<never, E | MessengerFailure> =>
    failure instanceof NoSession && failure.reason !== "never"
      ? Deferred.fail(ended, failure).pipe(
        Effect.andThen(disconnected),
        Effect.andThen(Effect.fail(failure))
      )
      : Effect.fail(failure)

  const made: Client = {
    application: { id: platform.applicationId, hash: Redacted.value(platform.applicationHash) },
    call: <M extends wire.RpcMethod, E = never>(request: M, meanings?: Meanings<E>) =>
      Effect.andThen(
        Deferred.await(keyed),
        Effect.tryPromise({
          try: (abortSignal) => client.call(request, { abortSignal }),
          catch: () => new PlatformUnavailable()
        })
      ).pipe(
        Effect.raceFirst(Deferred.await(ended)),
        Effect.tap(known),
        Effect.flatMap((answer): Effect.Effect<wire.RpcCallReturn[M["_"]], MessengerFailure | E> => {
          if (!isRefusal(answer)) return Effect.succeed(answer)
          return failed(meaningOf({ code: answer.errorCode, text: answer.errorMessage }, meanings))
        })
      ),
    moveTo: (dataCentre) =>
      Effect.raceFirst(
        Effect.tryPromise({
          try: () => client.network.changePrimaryDc(dataCentre),
          catch: () => new PlatformUnavailable()
        }),
        Deferred.await(ended)
      ),
    isDoubted: () => isDoubted,
    losses: line.losses,
    loggedOut: Effect.andThen(
      Deferred.fail(ended, new NoSession({ reason: "logged_out" })),
      keys.erase(sessionRef)
    )
  }
  // The platform pushes nothing to a session before its first call.
  if (unasked !== undefined) yield* made.call({ _: "updates.getState" })
  return made
})
