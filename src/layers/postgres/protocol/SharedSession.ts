/**
 * The sessions that statements outside transactions share: opened when they are needed, and open until they are lost.
 */
import { Deferred, Effect, Exit, Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { WireSession } from "./ServerSession.ts"

/** A place for a session: empty, opening, or open. */
export class Slot {
  session: WireSession | undefined
  opening: Deferred.Deferred<WireSession, SqlError.SqlError> | undefined

  /** True if it has a session to rely on, or will have. */
  get serves(): boolean {
    return this.opening !== undefined || this.session?.isLost === false && !this.session.isDoubtful
  }

  /** The load ahead of a new statement: what would be answered before it. */
  get load(): number {
    if (this.session === undefined || this.session.isLost) return this.opening === undefined ? 0.5 : 1
    return this.session.outstanding + (this.session.isDoubtful ? 1000 : 0)
  }
}

/** Some sessions, of which the one with the least to do serves next. */
export class Shared {
  readonly #slots: ReadonlyArray<Slot>
  readonly #open: Effect.Effect<WireSession, SqlError.SqlError, Scope.Scope>
  readonly #scope: Scope.Scope

  /** `open` opens a session that lives as long as its scope. */
  constructor(size: number, open: Effect.Effect<WireSession, SqlError.SqlError, Scope.Scope>, scope: Scope.Scope) {
    this.#slots = Array.from({ length: size }, () => new Slot())
    this.#open = open
    this.#scope = scope
  }

  /** The sessions that are open. */
  get sessions(): ReadonlyArray<WireSession> {
    return this.#slots.flatMap(({ session }) => session === undefined ? [] : [session])
  }

  /** The slot with the least to do. */
  get least(): Slot {
    let best: Slot | undefined
    for (const slot of this.#slots) {
      if (best === undefined || slot.load < best.load) best = slot
    }
    if (best === undefined) throw new Error("There is no session to share")
    return best
  }

  /** Runs on the session of the slot, which is opened where there is none. */
  use<A>(
    slot: Slot,
    f: (session: WireSession) => Effect.Effect<A, SqlError.SqlError>
  ): Effect.Effect<A, SqlError.SqlError> {
    const { session } = slot
    return session === undefined || session.isLost ? Effect.flatMap(this.#opened(slot), f) : f(session)
  }

  /** Opens a session in the slot; it is kept even if the fibers that wait for it are interrupted. */
  #opened(slot: Slot): Effect.Effect<WireSession, SqlError.SqlError> {
    if (slot.opening !== undefined) return Deferred.await(slot.opening)
    const opening = Deferred.makeUnsafe<WireSession, SqlError.SqlError>()
    slot.opening = opening
    const open = Effect.gen({ self: this }, function*() {
      const scope = yield* Scope.fork(this.#scope)
      const exit = yield* Effect.exit(Scope.provide(this.#open, scope))
      if (Exit.isSuccess(exit)) {
        slot.session = exit.value
        closeWith(exit.value, scope)
      } else {
        yield* Scope.close(scope, exit)
      }
      slot.opening = undefined
      yield* Deferred.done(opening, exit)
    })
    return Effect.andThen(Effect.forkDetach(open, { startImmediately: true }), Deferred.await(opening))
  }
}

/** Closes the scope when the session is lost. */
const closeWith = (session: WireSession, scope: Scope.Closeable): void =>
  session.onLost(() => Effect.runFork(Scope.close(scope, Exit.void)))
