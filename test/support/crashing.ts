/** A process that dies: after so many calls to the database, the messenger and the store of files nothing is answered any more. */
import { Effect, Ref } from "effect"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { Db } from "../../src/ports/Db.ts"
import { type LiveSession, MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"

class Dead extends Error {}

const isCall = (value: unknown): value is (...args: ReadonlyArray<never>) => unknown => typeof value === "function"

/**
 * Runs the effect in a process that dies after `calls` of them: the last one is done, and nobody hears of it. Answers
 * whether it lived.
 */
export const dying = Effect.fnUntraced(function*<A, E, R>(calls: number, effect: Effect.Effect<A, E, R>) {
  const left = yield* Ref.make(calls)
  const db = yield* Db
  const messenger = yield* MessengerSession
  const blobs = yield* BlobStore
  const counted = <B, F, S>(call: Effect.Effect<B, F, S>): Effect.Effect<B, F, S> =>
    Effect.flatMap(Ref.getAndUpdate(left, (count) => count - 1), (count) => {
      if (count < 0) return Effect.die(new Dead())
      return count === 0 ? Effect.andThen(call, Effect.die(new Dead())) : call
    })
  /** Every call of the session is counted. */
  const countedLive = (live: LiveSession): LiveSession =>
    new Proxy(live, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (name === "events") return member
        if (Effect.isEffect(member)) return counted(member)
        if (!isCall(member)) return member
        return (...args: ReadonlyArray<never>) => {
          const answer = member(...args)
          return Effect.isEffect(answer) ? counted(answer) : answer
        }
      }
    })
  yield* effect.pipe(
    Effect.provideService(Db, {
      ...db,
      transaction: (organization, within) => counted(db.transaction(organization, within)),
      read: (organization, within) => counted(db.read(organization, within))
    }),
    Effect.provideService(BlobStore, {
      ...blobs,
      put: (id, size, bytes) => counted(blobs.put(id, size, bytes)),
      remove: (object) => counted(blobs.remove(object))
    }),
    Effect.provideService(MessengerSession, {
      ...messenger,
      open: (ref) => Effect.map(counted(messenger.open(ref)), countedLive)
    }),
    Effect.exit
  )
  return (yield* Ref.get(left)) >= 0
})
