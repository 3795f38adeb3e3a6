/**
 * Connections for reading, apart from the one that protects the account: what they lose, and what a data centre for files
 * refuses, says nothing of the session. Nothing is pushed over them.
 */
import { Clock, Data, Deferred, Duration, Effect, Exit, RcMap, Redacted, type Scope, Semaphore } from "effect"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { type KeptSession, MessengerKeys } from "../../../ports/messenger/MessengerKeys.ts"
import { type MessengerFailure, NoSession, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import type { SessionLine } from "./Network.ts"
import type * as Refusals from "./PlatformRefusals.ts"
import { type Address, isRefusal, type wire, type WireClient, type WireStorage } from "./Protocol.ts"
import * as Storage from "./Storage.ts"
import { meaningOf, type Meanings, openLibrary, type Platform } from "./WireClient.ts"

/** A connection that nobody has used for so long is closed. */
const idleTime = Duration.minutes(1)

/** A data centre for files that does not answer within this, or does not let the account in, is not asked for a while. */
const openTime = Duration.seconds(3)
const pause = Duration.minutes(10)

/** The file is at another data centre. */
export class FileMoved extends Data.TaggedError("FileMoved")<{ readonly centre: number }> {}

/** The platform's refusal, before its meaning is known. */
class Refused extends Data.TaggedError("Refused")<Refusals.PlatformRefusal> {}

type Answer<M extends wire.RpcMethod> = wire.RpcCallReturn[M["_"]]

/** Calls for reading; they wait for as long as the caller does. */
export interface Reading {
  call<M extends wire.RpcMethod, E = never>(
    request: M,
    meanings?: Meanings<E>
  ): Effect.Effect<Answer<M>, MessengerFailure | E>
  /** Asks the data centre that has a file for a part of it. */
  part<E>(
    centre: number,
    request: wire.upload.RawGetFileRequest,
    meanings: Meanings<E>
  ): Effect.Effect<wire.upload.TypeFile, MessengerFailure | FileMoved | E>
}

/** A connection to one data centre. */
interface Opened {
  ask<M extends wire.RpcMethod>(
    request: M,
    kind?: "download"
  ): Effect.Effect<Answer<M>, PlatformUnavailable | Refused>
  readonly isOver: () => boolean
}

/** A connection to the account's own data centre, which names the others. */
interface Home extends Opened {
  readonly config: Effect.Effect<wire.RawConfig, PlatformUnavailable | Refused>
}

export interface ReadingKey {
  readonly sessionRef: SessionRef
  readonly slot: Slot | undefined
}

interface FilesKey extends ReadingKey {
  readonly centre: number
}

/** Makes lines under the right to the key of the slot's sessions. */
export type LineOf = (slot: Slot | undefined) => SessionLine

const unreachable = () => new PlatformUnavailable()

const ask = <M extends wire.RpcMethod>(client: WireClient, request: M, kind: "download" | undefined) =>
  Effect.tryPromise({
    try: (abortSignal) => client.call(request, kind === undefined ? { abortSignal } : { abortSignal, kind }),
    catch: unreachable
  }).pipe(Effect.flatMap((answer): Effect.Effect<Answer<M>, Refused> =>
    isRefusal(answer)
      ? Effect.fail(new Refused({ code: answer.errorCode, text: answer.errorMessage }))
      : Effect.succeed(answer)
  ))

/** Connects to one data centre, for as long as the scope lasts. */
const open = Effect.fnUntraced(function*(
  platform: Platform,
  line: SessionLine,
  storageOf: (lost: () => void) => WireStorage
): Effect.fn.Return<Opened, PlatformUnavailable, Scope.Scope> {
  const over = yield* Deferred.make<never, PlatformUnavailable>()
  let isOver = false
  const end = () => {
    isOver = true
    Deferred.doneUnsafe(over, Exit.fail(new PlatformUnavailable()))
  }
  yield* Effect.addFinalizer(() => Effect.sync(end))
  const client = yield* openLibrary(platform, { line, storage: storageOf(end), pushes: false })
  yield* Effect.tryPromise({ try: () => client.connect(), catch: unreachable })
  return {
    isOver: () => isOver,
    ask: (request, kind) => Effect.raceFirst(ask(client, request, kind), Deferred.await(over))
  }
})

const moved = /^FILE_MIGRATE_(\d+)$/

/** The failure that a refusal of a part means; it is never the end of the session. */
const fileMeaningOf = <E>(refused: Refused, meanings: Meanings<E>): MessengerFailure | FileMoved | E => {
  const [, centre] = moved.exec(refused.text) ?? []
  if (centre !== undefined) return new FileMoved({ centre: Number(centre) })
  const failure = meaningOf(refused, meanings)
  return failure instanceof NoSession ? new PlatformUnavailable() : failure
}

const addressOf = ({ dcOptions }: wire.RawConfig, centre: number): Address | undefined =>
  dcOptions.find(({ cdn, id, ipv6, tcpoOnly }) => id === centre && cdn !== true && ipv6 !== true && tcpoOnly !== true)

/** Connections of sessions for reading, each made with its first call. */
export const make = Effect.fnUntraced(function*(platform: Platform, lineOf: LineOf) {
  const keys = yield* MessengerKeys
  const run = Effect.runPromiseWith(yield* Effect.context<never>())

  /** The session's values; while its key is doubted, only its own connection tries it. */
  const load = Effect.fnUntraced(function*(sessionRef: SessionRef): Effect.fn.Return<KeptSession, MessengerFailure> {
    const kept = yield* Effect.mapError(keys.load(sessionRef), unreachable)
    if (kept === null) return yield* new NoSession({ reason: "never" })
    return kept.doubtedAt === null ? kept : yield* new PlatformUnavailable()
  })

  const homes = yield* RcMap.make({
    idleTimeToLive: idleTime,
    lookup: Effect.fnUntraced(function*({ sessionRef, slot }: ReadingKey) {
      const kept = yield* load(sessionRef)
      const opened = yield* open(platform, lineOf(slot), (lost) => Storage.makeForReading(kept, { lost }))
      let known: wire.RawConfig | undefined
      const config = Effect.suspend(() =>
        known === undefined
          ? Effect.tap(opened.ask({ _: "help.getConfig" }), (config) => Effect.sync(() => void (known = config)))
          : Effect.succeed(known)
      )
      return { ...opened, config } satisfies Home
    })
  })

  const home = (key: ReadingKey): Effect.Effect<Home, MessengerFailure, Scope.Scope> =>
    RcMap.get(homes, key).pipe(
      Effect.tapError(() => RcMap.invalidate(homes, key)),
      Effect.flatMap((opened) =>
        opened.isOver()
          ? Effect.andThen(RcMap.invalidate(homes, key), RcMap.get(homes, key))
          : Effect.succeed(opened)
      )
    )

  const atHome = <A>(key: ReadingKey, work: (opened: Home) => Effect.Effect<A, PlatformUnavailable | Refused>) =>
    Effect.scoped(Effect.flatMap(home(key), work))

  /** Lets the account in at a data centre for files, as its own data centre vouches for it. */
  const letIn = Effect.fnUntraced(function*(key: FilesKey, { ask }: Opened) {
    const { bytes, id } = yield* atHome(key, (own) => own.ask({ _: "auth.exportAuthorization", dcId: key.centre }))
    yield* ask({ _: "auth.importAuthorization", id, bytes })
  }, Effect.mapError(unreachable))

  const connectFiles = Effect.fnUntraced(function*(key: FilesKey) {
    const config = yield* atHome(key, (own) => own.config)
    const dataCentre = addressOf(config, key.centre)
    if (dataCentre === undefined) return yield* new PlatformUnavailable()
    const kept = yield* load(key.sessionRef)
    const save = (name: string, value: Uint8Array, version: number) =>
      run(Effect.asVoid(Effect.ignore(keys.save(key.sessionRef, name, Redacted.make(value), version))))
    const opened = yield* open(
      { ...platform, dataCentre },
      lineOf(key.slot),
      () => Storage.makeForFiles(kept, { save })
    )
    yield* Effect.timeoutOrElse(opened.ask({ _: "help.getConfig" }), {
      duration: openTime,
      orElse: () => Effect.fail(new PlatformUnavailable())
    })
    return { opened, entering: Semaphore.makeUnsafe(1) }
  })

  /** Sessions and data centres for files that are not asked before the time. */
  const pauses = new Map<string, number>()
  const nameOf = ({ centre, sessionRef }: FilesKey) => `${sessionRef} ${centre}`

  const paused = Effect.fnUntraced(function*(key: FilesKey) {
    const at = yield* Clock.currentTimeMillis
    for (const [name, until] of pauses) if (until <= at) pauses.delete(name)
    if (pauses.has(nameOf(key))) return yield* new PlatformUnavailable()
  })

  const pausing = <A, E, R>(key: FilesKey, work: Effect.Effect<A, E, R>) =>
    Effect.tapError(
      work,
      () => Effect.map(Clock.currentTimeMillis, (at) => void pauses.set(nameOf(key), at + Duration.toMillis(pause)))
    )

  const centres = yield* RcMap.make({ idleTimeToLive: idleTime, lookup: connectFiles })

  const isUnknown = (failure: PlatformUnavailable | Refused) =>
    failure._tag === "Refused" && failure.text === "AUTH_KEY_UNREGISTERED"

  const elsewhere = Effect.fnUntraced(function*(key: FilesKey, request: wire.upload.RawGetFileRequest) {
    yield* paused(key)
    const { entering, opened } = yield* pausing(
      key,
      Effect.tapError(RcMap.get(centres, key), () => RcMap.invalidate(centres, key))
    )
    const again = Effect.andThen(pausing(key, letIn(key, opened)), opened.ask(request))
    return yield* opened.ask(request).pipe(
      Effect.catchIf(isUnknown, () => entering.withPermit(Effect.catchIf(opened.ask(request), isUnknown, () => again)))
    )
  }, Effect.scoped)

  return (key: ReadingKey): Reading => ({
    call: (request, meanings) =>
      Effect.catchTag(
        atHome(key, (opened) => opened.ask(request)),
        "Refused",
        (refused) => Effect.fail(meaningOf(refused, meanings))
      ),
    part: <E>(centre: number, request: wire.upload.RawGetFileRequest, meanings: Meanings<E>) =>
      Effect.gen(function*() {
        const { thisDc } = yield* atHome(key, (opened) => opened.config)
        if (centre === thisDc) return yield* atHome(key, (opened) => opened.ask(request, "download"))
        return yield* elsewhere({ ...key, centre }, request)
      }).pipe(Effect.catchTag("Refused", (refused) => Effect.fail(fileMeaningOf(refused, meanings))))
  })
})
