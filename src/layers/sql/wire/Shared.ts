/** The sessions that statements outside transactions share: opened when they are needed, and open until they are lost. */
import { Deferred, Effect, Exit, Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { Session } from "./Session.ts"

/** A place for a session: empty, opening, or open. */
class Place {
  session: Session | undefined
  opening: Deferred.Deferred<Session, SqlError.SqlError> | undefined

  /** How much would be answered before what comes now. */
  get load(): number {
    if (this.session === undefined || this.session.isLost) return this.opening === undefined ? 0.5 : 1
    return this.session.outstanding + (this.session.isDoubtful ? 1000 : 0)
  }
}

/** Some sessions, of which the one with the least to do serves next. */
export class Shared {
  readonly #places: ReadonlyArray<Place>
  readonly #open: Effect.Effect<Session, SqlError.SqlError, Scope.Scope>
  readonly #scope: Scope.Scope

  /** `open` opens a session that lives as long as its scope. */
  constructor(size: number, open: Effect.Effect<Session, SqlError.SqlError, Scope.Scope>, scope: Scope.Scope) {
    this.#places = Array.from({ length: size }, () => new Place())
    this.#open = open
    this.#scope = scope
  }

  /** The sessions that are open. */
  get sessions(): ReadonlyArray<Session> {
    return this.#places.flatMap(({ session }) => session === undefined ? [] : [session])
  }

  /** Runs on the session that has the least to do. */
  use<A>(f: (session: Session) => Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> {
    return Effect.suspend(() => {
      let best: Place | undefined
      for (const place of this.#places) {
        if (best === undefined || place.load < best.load) best = place
      }
      if (best === undefined) return Effect.die(new Error("There is no session to share"))
      const { session } = best
      return session === undefined || session.isLost ? Effect.flatMap(this.#opened(best), f) : f(session)
    })
  }

  /** Opens a session in the place, whoever of those who wait for it goes away. */
  #opened(place: Place): Effect.Effect<Session, SqlError.SqlError> {
    if (place.opening !== undefined) return Deferred.await(place.opening)
    const opening = Deferred.makeUnsafe<Session, SqlError.SqlError>()
    place.opening = opening
    const open = Effect.gen({ self: this }, function*() {
      const scope = yield* Scope.fork(this.#scope)
      const exit = yield* Effect.exit(Scope.provide(this.#open, scope))
      if (Exit.isSuccess(exit)) {
        place.session = exit.value
        closeWith(exit.value, scope)
      } else {
        yield* Scope.close(scope, exit)
      }
      place.opening = undefined
      yield* Deferred.done(opening, exit)
    })
    return Effect.andThen(Effect.forkDetach(open, { startImmediately: true }), Deferred.await(opening))
  }
}

/** Closes the scope when the session is lost. */
const closeWith = (session: Session, scope: Scope.Closeable): void =>
  session.onLost(() => Effect.runFork(Scope.close(scope, Exit.void)))
