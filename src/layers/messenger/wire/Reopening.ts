/**
 * A client that outlives a doubt about its key: once the doubt is over, the key is tried on a connection of its own.
 */
import { Effect, Exit, Scope, Semaphore } from "effect"
import type { MessengerFailure } from "../../../ports/messenger/MessengerSession.ts"
import type { Client } from "./WireClient.ts"

/** `connect` connects the session's client; one that is doubted is replaced before the next call. */
export const make = Effect.fnUntraced(
  function*(
    connect: Effect.Effect<Client, MessengerFailure, Scope.Scope>
  ): Effect.fn.Return<Client, MessengerFailure, Scope.Scope> {
    const around = yield* Effect.scope
    const opening = yield* Semaphore.make(1)

    const open = Effect.gen(function*() {
      const scope = yield* Scope.fork(around)
      const client = yield* Scope.provide(connect, scope).pipe(
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
      return { client, scope }
    })

    let lost = 0
    let current = yield* open
    const ready = Effect.suspend(() => {
      if (!current.client.isDoubted()) return Effect.succeed(current.client)
      return opening.withPermits(1)(Effect.gen(function*() {
        const before = current
        if (!before.client.isDoubted()) return before.client
        current = yield* open
        lost += before.client.losses()
        yield* Scope.close(before.scope, Exit.void)
        return current.client
      }))
    })

    return {
      application: current.client.application,
      call: (request, meanings) => Effect.flatMap(ready, (client) => client.call(request, meanings)),
      moveTo: (dataCentre) => Effect.flatMap(ready, (client) => client.moveTo(dataCentre)),
      isDoubted: () => current.client.isDoubted(),
      losses: () => lost + current.client.losses(),
      loggedOut: Effect.flatMap(ready, (client) => client.loggedOut)
    }
  }
)
