/**
 * A connection for reading, apart from the one that protects the account: what it loses, and what a data centre for files
 * refuses, says nothing of the session. Nothing is pushed over it.
 */
import { Clock, Data, Deferred, Duration, Effect, Exit, RcMap, Redacted, type Scope } from "effect"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { MessengerKeys } from "../../../ports/messenger/MessengerKeys.ts"
import { type MessengerFailure, NoSession, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import type { SessionLine } from "./Network.ts"
import * as Refusals from "./PlatformRefusals.ts"
import { isRefusal, type wire } from "./Protocol.ts"
import * as Storage from "./Storage.ts"
import { type Meanings, openLibrary, type Platform } from "./WireClient.ts"

/** The file is at another data centre. */
export class FileMoved extends Data.TaggedError("FileMoved")<{ readonly centre: number }> {}

type Answer<M extends wire.RpcMethod> = wire.RpcCallReturn[M["_"]]

/** Calls of a connection for reading; they wait for as long as the caller does. */
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

export interface ReadingClient extends Reading {
  /** No more calls can be made over it. */
  readonly isOver: () => boolean
}

const moved = /^FILE_MIGRATE_(\d+)$/

/** The library's words for an authorization that was not passed on to another data centre. */
const notPassedOn = /^Failed to (?:export|import) \((-?\d+): (.+)\)$/

/** A data centre that did not take the authorization is not asked again before. */
const retryTime = Duration.minutes(30)

/** The meaning of a refusal by a data centre that is not the account's own: never the end of the session. */
const elsewhere = (refusal: Refusals.PlatformRefusal): MessengerFailure => {
  const failure = Refusals.common(refusal)
  return failure instanceof NoSession ? new PlatformUnavailable() : failure
}

const unreachable = () => new PlatformUnavailable()

const failureOf = (error: unknown): MessengerFailure => {
  const [, code, text] = notPassedOn.exec(error instanceof Error ? error.message : "") ?? []
  return code === undefined || text === undefined ? unreachable() : elsewhere({ code: Number(code), text })
}

/** Connects under the key of a session that has one. */
export const make = Effect.fnUntraced(function*(
  platform: Platform,
  sessionRef: SessionRef,
  line: SessionLine
): Effect.fn.Return<ReadingClient, MessengerFailure, MessengerKeys | Scope.Scope> {
  const keys = yield* MessengerKeys
  const kept = yield* Effect.mapError(keys.load(sessionRef), unreachable)
  if (kept === null) return yield* new NoSession({ reason: "never" })
  // The session's own connection finds out.
  if (kept.doubtedAt !== null) return yield* new PlatformUnavailable()
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const over = yield* Deferred.make<never, MessengerFailure>()
  let isOver = false
  const end = () => {
    isOver = true
    Deferred.doneUnsafe(over, Exit.fail(new PlatformUnavailable()))
  }
  yield* Effect.addFinalizer(() => Effect.sync(end))
  const storage = Storage.makeForReading(kept, {
    save: (name, value, version) => run(Effect.ignore(keys.save(sessionRef, name, Redacted.make(value), version))),
    lost: end
  })
  const client = yield* openLibrary(platform, { line, storage, pushes: false })
  yield* Effect.tryPromise({ try: () => client.connect(), catch: unreachable })

  const ask = <M extends wire.RpcMethod>(
    request: M,
    where: { readonly kind?: "download"; readonly dcId?: number },
    failed: (error: unknown) => MessengerFailure
  ) =>
    Effect.raceFirst(
      Effect.tryPromise({
        try: (abortSignal) => client.call(request, { ...where, abortSignal }),
        catch: failed
      }),
      Deferred.await(over)
    )

  /** The library remembers an authorization that was not passed on for as long as its client lives. */
  const failures = new Map<number, { readonly failure: MessengerFailure; readonly until: number }>()

  const known = Effect.fnUntraced(function*(centre: number) {
    const last = failures.get(centre)
    if (last === undefined) return
    if (last.until <= (yield* Clock.currentTimeMillis)) end()
    return yield* Effect.fail(last.failure)
  })

  const note = Effect.fnUntraced(function*(centre: number, failure: MessengerFailure) {
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(retryTime)
    failures.set(centre, { failure, until })
  })

  return {
    isOver: () => isOver,
    call: <M extends wire.RpcMethod, E = never>(request: M, meanings?: Meanings<E>) =>
      Effect.flatMap(
        ask(request, {}, unreachable),
        (answer): Effect.Effect<Answer<M>, MessengerFailure | E> => {
          if (!isRefusal(answer)) return Effect.succeed(answer)
          const meaning = meanings?.[answer.errorMessage]
          return meaning === undefined
            ? Effect.fail(Refusals.common({ code: answer.errorCode, text: answer.errorMessage }))
            : Effect.fail(meaning())
        }
      ),
    part: <E>(centre: number, request: wire.upload.RawGetFileRequest, meanings: Meanings<E>) =>
      known(centre).pipe(
        Effect.andThen(
          Effect.tapError(ask(request, { kind: "download", dcId: centre }, failureOf), (failure) =>
            isOver ? Effect.void : note(centre, failure))
        ),
        Effect.flatMap((answer): Effect.Effect<wire.upload.TypeFile, MessengerFailure | FileMoved | E> => {
          if (!isRefusal(answer)) return Effect.succeed(answer)
          const [, other] = moved.exec(answer.errorMessage) ?? []
          if (other !== undefined) return Effect.fail(new FileMoved({ centre: Number(other) }))
          const meaning = meanings[answer.errorMessage]
          return Effect.fail(
            meaning === undefined ? elsewhere({ code: answer.errorCode, text: answer.errorMessage }) : meaning()
          )
        })
      )
  }
})

/** A connection that nobody has used for so long is closed. */
const idleTime = Duration.minutes(1)

export interface ReadingKey {
  readonly sessionRef: SessionRef
  readonly slot: Slot | undefined
}

/** Connections for reading, each made with its first call; the session's key stays with its own connection. */
export const makeReadings = Effect.fnUntraced(function*<R>(
  connect: (key: ReadingKey) => Effect.Effect<ReadingClient, MessengerFailure, R>
) {
  const clients = yield* RcMap.make({ lookup: connect, idleTimeToLive: idleTime })

  const open = (key: ReadingKey): Effect.Effect<ReadingClient, MessengerFailure, Scope.Scope> =>
    RcMap.get(clients, key).pipe(
      Effect.tapError(() => RcMap.invalidate(clients, key)),
      Effect.flatMap((client) =>
        client.isOver()
          ? Effect.andThen(RcMap.invalidate(clients, key), RcMap.get(clients, key))
          : Effect.succeed(client)
      )
    )

  return (key: ReadingKey): Reading => ({
    call: (request, meanings) => Effect.scoped(Effect.flatMap(open(key), (client) => client.call(request, meanings))),
    part: (centre, request, meanings) =>
      Effect.scoped(Effect.flatMap(open(key), (client) => client.part(centre, request, meanings)))
  })
})
