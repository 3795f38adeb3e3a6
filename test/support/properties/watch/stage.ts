/**
 * The whole service over a messenger that tells of every sign-out before it is done, and an engine that dies at any
 * call.
 */
import { Context, Effect, Layer } from "effect"
import type { AuthorizationId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import * as Worker from "../../../../src/layers/Worker.ts"
import { Db } from "../../../../src/ports/Db.ts"
import { type LiveSession, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import type { DatabaseLayer } from "../../postgres/database.ts"
import * as World from "../../world.ts"

/** When the engine dies next, and what looks on at sign-outs. */
export class Fate extends Context.Service<Fate, {
  /** After so many calls; null where it does not. */
  left: number | null
  /** Whether the last call is done all the same. */
  done: boolean
  /** It has died. */
  died: () => void
  /** What happens right before a sign-out is done, through whichever session. */
  before: ((ref: SessionRef, id: AuthorizationId) => Effect.Effect<void>) | null
  /** A sign-out has not brought an answer that says that it was done. */
  failed: (ref: SessionRef) => void
}>()("test/support/properties/watch/stage/Fate") {
  static readonly layer = Layer.sync(Fate, (): Fate["Service"] => ({
    left: null,
    done: true,
    died: () => undefined,
    before: null,
    failed: () => undefined
  }))
}

class Dead extends Error {}

const recording = Layer.effect(
  MessengerSession,
  Effect.gen(function*() {
    const fate = yield* Fate
    const messenger = yield* MessengerSession
    return {
      ...messenger,
      open: (ref) =>
        Effect.map(messenger.open(ref), (live): LiveSession => ({
          ...live,
          signOut: (id) =>
            Effect.suspend(() => fate.before?.(ref, id) ?? Effect.void).pipe(
              Effect.andThen(live.signOut(id)),
              Effect.tapError(() => Effect.sync(() => fate.failed(ref)))
            )
        }))
    }
  })
)

/** The messenger, and the engine over it. */
export const layer = (database: DatabaseLayer) => {
  const counted = (fate: Fate["Service"]) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (fate.left === null || fate.left-- > 0) return call
      const { done } = fate
      fate.died()
      return done ? Effect.andThen(call, Effect.die(new Dead())) : Effect.die(new Dead())
    })
  const mortal = Layer.merge(
    Layer.effect(
      Db,
      Effect.map(Effect.all([Db, Fate]), ([db, fate]) => {
        const each = counted(fate)
        return {
          ...db,
          transaction: (organization, effect) => each(db.transaction(organization, effect)),
          read: (organization, effect) => each(db.read(organization, effect))
        }
      })
    ),
    Layer.effect(
      MessengerSession,
      Effect.map(Effect.all([MessengerSession, Fate]), ([messenger, fate]) => {
        const each = counted(fate)
        return {
          ...messenger,
          open: (ref) =>
            Effect.map(each(messenger.open(ref)), (live): LiveSession => ({
              ...live,
              authorizations: each(live.authorizations),
              security: (held) => each(live.security(held)),
              signOut: (id) => each(live.signOut(id)),
              setPassword: (change) => each(live.setPassword(change)),
              pair: (other, password) => each(live.pair(other, password)),
              logOut: each(live.logOut)
            }))
        }
      })
    )
  )
  const messenger = Layer.provideMerge(recording, Simulated.layerSql)
  return Worker.layer().pipe(
    Layer.provide(mortal),
    Layer.provideMerge(World.world(database, undefined, Layer.provide(messenger, Fate.layer))),
    Layer.provideMerge(Fate.layer)
  )
}
