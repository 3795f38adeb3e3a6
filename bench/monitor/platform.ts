/** A messenger that answers every call after the same time, and knows when it was asked. */
import { Effect, Layer, Queue, Stream } from "effect"
import {
  type Authorization,
  AuthorizationId,
  MessengerEvent,
  serviceDevice
} from "../../src/domain/messenger/Messenger.ts"
import { type LiveSession, MessengerSession, PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"
import { silentLogins, silentSession } from "../../test/support/messenger/silentSession.ts"

const unreadable = Effect.fail(new PlatformUnavailable({}))

const signedInAt = new Date(Date.UTC(2026, 0, 1))

/** The service's own session, which is all that an account lists where nobody has signed in. */
export const own: Authorization = {
  id: AuthorizationId.make("0"),
  current: true,
  ...serviceDevice,
  app_version: "1",
  ip: null,
  country: null,
  last_active_at: signedInAt,
  created_at: signedInAt,
  password_pending: false,
  unconfirmed: false
}

/** Makes one whose calls take so long. */
export const makePlatform = (latency: number) => {
  const strangers = new Map<string, Authorization>()
  const open = new Map<string, Queue.Queue<MessengerEvent>>()
  const signedOut = new Map<string, number>()
  let polls = 0
  const answers = <A>(answer: () => A) => Effect.delay(Effect.sync(answer), latency)

  const session = (ref: string, events: Queue.Queue<MessengerEvent>): LiveSession => ({
    ...silentSession,
    security: () => unreadable,
    profile: unreadable,
    authorizations: answers(() => {
      polls += 1
      const stranger = strangers.get(ref)
      return stranger === undefined ? [own] : [own, stranger]
    }),
    signOut: () =>
      answers(() => {
        signedOut.set(ref, Date.now())
        strangers.delete(ref)
      }),
    events: Stream.fromQueue(events)
  })

  return {
    layer: Layer.succeed(
      MessengerSession,
      MessengerSession.of({
        ...silentLogins,
        open: (ref) =>
          Effect.gen(function*() {
            const events = yield* Effect.acquireRelease(
              Queue.sliding<MessengerEvent>(16),
              (queue) => Effect.andThen(Effect.sync(() => open.delete(ref)), Queue.shutdown(queue))
            )
            open.set(ref, events)
            return yield* answers(() => session(ref, events))
          })
      })
    ),
    /** How often a list was read until now. */
    polls: () => polls,
    /** The sessions that are open, and hear of pushes. */
    open: () => [...open.keys()],
    /** Somebody signs in, of which the session is told or not. */
    signIn: (ref: string, pushed: boolean) => {
      const id = AuthorizationId.make(`stranger-${ref}`.slice(0, 60))
      strangers.set(ref, {
        ...own,
        id,
        current: false,
        device_model: "Pixel 9",
        app_name: "App",
        created_at: new Date()
      })
      const events = open.get(ref)
      if (pushed && events !== undefined) Queue.offerUnsafe(events, MessengerEvent.cases.NewAuthorization.make({ id }))
    },
    signedOut: (ref: string) => signedOut.get(ref)
  }
}
export type Platform = ReturnType<typeof makePlatform>
