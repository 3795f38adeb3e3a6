/**
 * What every implementation of MessengerSession shares: one connection for a reference, clean texts, queues of events.
 */
import { type Cause, Deferred, Effect, Exit, Queue, Scope, Stream } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import {
  cleanAuthorization,
  cleanProfile,
  cleanSecurity,
  cleanText,
  MessengerEvent,
  type SessionEnd,
  type SessionRef
} from "../../domain/messenger/Messenger.ts"
import type { EmailPending } from "../../ports/messenger/MessengerSecurity.ts"
import {
  type LiveSession,
  type MessengerFailure,
  type MessengerSession,
  NoSession
} from "../../ports/messenger/MessengerSession.ts"

/** The number of unread events that a session keeps. */
export const eventsKept = 256

/** The calls of a connection to the platform. */
export type PlatformConnection = Omit<LiveSession, "events">

/** Connects a session to the platform for as long as the scope lasts; `push` takes the platform's pushes. */
export type ConnectSession = (
  sessionRef: SessionRef,
  push: (event: MessengerEvent) => void,
  slot: Slot | undefined
) => Effect.Effect<PlatformConnection, MessengerFailure, Scope.Scope>

/** Hears the events of a connection, until it is lost or left. */
interface Listener {
  readonly heard: (event: MessengerEvent) => void
  readonly ended: () => void
}

interface SharedConnection {
  readonly connection: Deferred.Deferred<PlatformConnection, MessengerFailure>
  readonly scope: Scope.Closeable
  readonly listeners: Set<Listener>
  users: number
}

/** Keeps events until they are read. */
const makeInbox = Effect.map(Queue.sliding<MessengerEvent, Cause.Done>(eventsKept), (queue) => {
  let dropped = false
  const listener: Listener = {
    heard: (event) => {
      if (Queue.sizeUnsafe(queue) >= eventsKept) dropped = true
      Queue.offerUnsafe(queue, event)
    },
    ended: () => void Queue.endUnsafe(queue)
  }
  const events = Stream.fromQueue(queue).pipe(
    Stream.mapArray((events) => {
      if (!dropped) return events
      dropped = false
      return [MessengerEvent.make({ _tag: "Gap" }), ...events]
    })
  )
  return { listener, events }
})

const cleanPending = (pending: EmailPending): EmailPending => ({
  ...pending,
  pattern: cleanText(pending.pattern) ?? "*****"
})

/** A connection whose calls are made while `isOpen`, and whose end is reported by `lost`. */
const watched = (
  connection: PlatformConnection,
  isOpen: () => boolean,
  lost: (reason: SessionEnd) => void
): PlatformConnection => {
  const asked = <A, E>(call: Effect.Effect<A, E | NoSession>) =>
    Effect.suspend(() => {
      if (!isOpen()) return Effect.die(new Error("The messenger session is used after its scope closed."))
      return Effect.tapError(call, (failure) =>
        Effect.sync(() => {
          if (failure instanceof NoSession) lost(failure.reason)
        }))
    })
  return {
    profile: asked(Effect.map(connection.profile, cleanProfile)),
    security: (held) => asked(Effect.map(connection.security(held), cleanSecurity)),
    updateProfile: (patch) => asked(Effect.map(connection.updateProfile(patch), cleanProfile)),
    setUsername: (username) => asked(Effect.map(connection.setUsername(username), cleanProfile)),
    authorizations: asked(Effect.map(connection.authorizations, (all) => all.map(cleanAuthorization))),
    signOut: (id) => asked(connection.signOut(id)),
    confirm: (id) => asked(connection.confirm(id)),
    checkPassword: (candidate) => asked(connection.checkPassword(candidate)),
    setPassword: (change) => asked(connection.setPassword(change)),
    removePassword: (current) => asked(connection.removePassword(current)),
    setRecoveryEmail: (change) => asked(Effect.map(connection.setRecoveryEmail(change), cleanPending)),
    confirmRecoveryEmail: (code) => asked(connection.confirmRecoveryEmail(code)),
    cancelRecoveryEmail: asked(connection.cancelRecoveryEmail),
    removeRecoveryEmail: (current) => asked(connection.removeRecoveryEmail(current)),
    startLoginEmail: (email) => asked(Effect.map(connection.startLoginEmail(email), cleanPending)),
    confirmLoginEmail: (code) => asked(connection.confirmLoginEmail(code)),
    addPasskey: (prepared) => asked(connection.addPasskey(prepared)),
    removePasskey: (id) => asked(connection.removePasskey(id)),
    pair: (sessionRef, password) => asked(connection.pair(sessionRef, password)),
    logOut: asked(Effect.tap(connection.logOut, Effect.sync(() => lost("logged_out"))))
  }
}

/** Opens sessions over the connections that `connect` makes; `hold` keeps one open, and says when it has ended. */
export const make = (connect: ConnectSession) => {
  const all = new Map<SessionRef, SharedConnection>()

  const forget = (sessionRef: SessionRef, shared: SharedConnection): void => {
    if (all.get(sessionRef) === shared) all.delete(sessionRef)
  }

  const push = (sessionRef: SessionRef, shared: SharedConnection, event: MessengerEvent): void => {
    const listeners = [...shared.listeners]
    for (const { heard } of listeners) heard(event)
    if (event._tag !== "Lost") return
    forget(sessionRef, shared)
    shared.listeners.clear()
    for (const { ended } of listeners) ended()
  }

  const begin = (sessionRef: SessionRef, shared: SharedConnection, slot: Slot | undefined) =>
    connect(sessionRef, (event) => push(sessionRef, shared, event), slot).pipe(
      Scope.provide(shared.scope),
      Effect.onExit((exit) =>
        Effect.suspend(() => {
          if (Exit.isFailure(exit)) forget(sessionRef, shared)
          return Deferred.done(shared.connection, exit)
        })
      ),
      Effect.interruptible,
      Effect.forkIn(shared.scope)
    )

  const leave = (sessionRef: SessionRef, shared: SharedConnection) =>
    Effect.suspend(() => {
      if (--shared.users > 0) return Effect.void
      forget(sessionRef, shared)
      return Scope.close(shared.scope, Exit.void)
    })

  const join = (sessionRef: SessionRef, slot: Slot | undefined) =>
    Effect.suspend(() => {
      const known = all.get(sessionRef)
      if (known !== undefined) {
        known.users++
        return Effect.succeed(known)
      }
      const shared: SharedConnection = {
        connection: Deferred.makeUnsafe(),
        scope: Scope.makeUnsafe(),
        listeners: new Set(),
        users: 1
      }
      all.set(sessionRef, shared)
      return Effect.as(begin(sessionRef, shared, slot), shared)
    })

  /** Listens to the connection while the scope lasts. */
  const attach = Effect.fnUntraced(function*(sessionRef: SessionRef, slot: Slot | undefined, listener: Listener) {
    const shared = yield* Effect.acquireRelease(join(sessionRef, slot), (shared) => leave(sessionRef, shared))
    yield* Effect.acquireRelease(
      Effect.sync(() => shared.listeners.add(listener)),
      () =>
        Effect.sync(() => {
          shared.listeners.delete(listener)
          listener.ended()
        })
    )
    return { shared, connection: yield* Deferred.await(shared.connection) }
  })

  const open: MessengerSession["Service"]["open"] = Effect.fn("MessengerSession.open")(function*(sessionRef, slot) {
    const { events, listener } = yield* makeInbox
    const { connection, shared } = yield* attach(sessionRef, slot, listener)
    let isOpen = true
    yield* Effect.addFinalizer(() => Effect.sync(() => void (isOpen = false)))
    const lost = (reason: SessionEnd) => push(sessionRef, shared, MessengerEvent.make({ _tag: "Lost", reason }))
    return { ...watched(connection, () => isOpen, lost), events }
  })

  const hold = (sessionRef: SessionRef, slot: Slot | undefined, ended: () => void) =>
    Effect.asVoid(attach(sessionRef, slot, { heard: () => {}, ended }))

  return { open, hold }
}
