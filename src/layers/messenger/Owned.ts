/** The messenger for as long as this process is the one that may use it. */
import { Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import { type LiveSession, MessengerSession, PlatformUnavailable } from "../../ports/messenger/MessengerSession.ts"
import { Ownership } from "../../ports/messenger/Ownership.ts"

/** A session that was opened in a term of its slot, and ends with it. */
interface OpenedSession {
  readonly slot: Slot | undefined
  readonly term: number
  readonly scope: Scope.Closeable
  readonly over: Deferred.Deferred<never, PlatformUnavailable>
}

const unavailable = Effect.fail(new PlatformUnavailable())

/** A session that is used while `isMine`; a running call is interrupted when the term ends. */
const owned = (live: LiveSession, isMine: () => boolean, over: OpenedSession["over"]): LiveSession => {
  const asked = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E | PlatformUnavailable> =>
    Effect.suspend(() => isMine() ? Effect.raceFirst(call, Deferred.await(over)) : unavailable)
  return {
    profile: asked(live.profile),
    security: (held) => asked(live.security(held)),
    updateProfile: (patch) => asked(live.updateProfile(patch)),
    setUsername: (username) => asked(live.setUsername(username)),
    authorizations: asked(live.authorizations),
    signOut: (id) => asked(live.signOut(id)),
    confirm: (id) => asked(live.confirm(id)),
    checkPassword: (candidate) => asked(live.checkPassword(candidate)),
    setPassword: (change) => asked(live.setPassword(change)),
    removePassword: (current) => asked(live.removePassword(current)),
    setRecoveryEmail: (change) => asked(live.setRecoveryEmail(change)),
    confirmRecoveryEmail: (code) => asked(live.confirmRecoveryEmail(code)),
    cancelRecoveryEmail: asked(live.cancelRecoveryEmail),
    removeRecoveryEmail: (current) => asked(live.removeRecoveryEmail(current)),
    startLoginEmail: (email) => asked(live.startLoginEmail(email)),
    confirmLoginEmail: (code) => asked(live.confirmLoginEmail(code)),
    addPasskey: (prepared) => asked(live.addPasskey(prepared)),
    removePasskey: (id) => asked(live.removePasskey(id)),
    pair: (ref, password) => asked(live.pair(ref, password)),
    events: live.events,
    logOut: asked(live.logOut)
  }
}

/**
 * Opens sessions while their slots are owned, and closes them when that ends: nobody who has one, a step or a request,
 * uses its key afterwards.
 */
export const layer: Layer.Layer<MessengerSession, never, MessengerSession | Ownership> = Layer.effect(
  MessengerSession,
  Effect.gen(function*() {
    const messenger = yield* MessengerSession
    const ownership = yield* Ownership
    const opened = new Set<OpenedSession>()

    const end = (one: OpenedSession) =>
      Effect.andThen(
        Deferred.fail(one.over, new PlatformUnavailable()),
        Scope.close(one.scope, Exit.void)
      )
    const endAll = (which: (one: OpenedSession) => boolean) =>
      Effect.forEach([...opened].filter(which), end, { concurrency: "unbounded", discard: true })
    yield* ownership.changes.pipe(
      Stream.runForEach(() => endAll(({ slot, term }) => ownership.term(slot) !== term)),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* ownership.closing((slots) => endAll(({ slot }) => slot === undefined || slots.has(slot)))

    return MessengerSession.of({
      // A login uses a key that no other process has yet.
      ...messenger,
      open: Effect.fnUntraced(function*(ref, slot) {
        const term = ownership.term(slot)
        if (term === null) return yield* unavailable
        const scope = yield* Scope.fork(yield* Effect.scope)
        const one: OpenedSession = { slot, term, scope, over: yield* Deferred.make<never, PlatformUnavailable>() }
        opened.add(one)
        yield* Scope.addFinalizer(scope, Effect.sync(() => void opened.delete(one)))
        const isMine = () => ownership.term(slot) === term
        const live = yield* Effect.raceFirst(
          Scope.provide(messenger.open(ref, slot), scope),
          Deferred.await(one.over)
        )
        return isMine() ? owned(live, isMine, one.over) : yield* unavailable
      })
    })
  })
)
