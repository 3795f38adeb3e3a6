/** The simulated platform's answer to a call of the service: by a script, or by executing it. */
import { DateTime, Effect } from "effect"
import type { MessengerUserId, SessionRef } from "../../../domain/messenger/Messenger.ts"
import type { LoginCommon } from "../../../ports/messenger/MessengerLogin.ts"
import {
  type MessengerFailure,
  NoSession,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable
} from "../../../ports/messenger/MessengerSession.ts"
import type { SimulatedChanges } from "./SimulatedChanges.ts"
import { type PlatformOperation, ScriptedAnswer } from "./SimulatedPlatform.ts"
import type { SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

export interface Calls {
  /** A call through a session; `unreadable` answers where a script says that the security settings cannot be read. */
  session<A, E>(
    sessionRef: SessionRef,
    operation: PlatformOperation,
    work: Effect.Effect<A, E | NoSession>,
    unreadable?: Effect.Effect<A, E | NoSession>
  ): Effect.Effect<A, E | MessengerFailure>
  /** A call without a session, about an account where one is known. */
  login<A, E>(
    user: Effect.Effect<MessengerUserId | null>,
    operation: PlatformOperation,
    work: Effect.Effect<A, E>
  ): Effect.Effect<A, E | LoginCommon>
}

/** Calls of the service from one place: a key that is used at another one meanwhile dies. */
export const make = (store: SimulatedStore["Service"], changes: SimulatedChanges, place: string): Calls => {
  /** The script is used up immediately, so that a call which waits leaves the next one to the next script. */
  const nextAnswer = Effect.fnUntraced(function*(userId: MessengerUserId | null, operation: PlatformOperation) {
    if ((yield* store.nextScript(userId, operation)) === null) return null
    return yield* store.exclusively(Effect.gen(function*() {
      const script = yield* store.nextScript(userId, operation)
      if (script === null) return null
      yield* store.useScript(script)
      return script.answer
    }))
  })

  /** Logs the call, and takes the script that answers it. */
  const begun = Effect.fnUntraced(function*(userId: MessengerUserId | null, operation: PlatformOperation) {
    const answer = yield* nextAnswer(userId, operation)
    yield* store.addCall({ operation, user_id: userId, at: yield* DateTime.nowAsDate })
    return answer
  })

  const follow = <A, E>(
    answer: ScriptedAnswer | null,
    work: Effect.Effect<A, E>,
    unreadable: Effect.Effect<A, E>
  ): Effect.Effect<A, E | LoginCommon> =>
    answer === null ? work : ScriptedAnswer.match(answer, {
      Busy: ({ seconds }): Effect.Effect<A, E | LoginCommon> =>
        Effect.fail(new PlatformBusy({ retryAfterSeconds: seconds })),
      Unavailable: () => Effect.fail(new PlatformUnavailable()),
      Refused: ({ reason }) => Effect.fail(new PlatformRefused({ reason })),
      Slow: ({ milliseconds }) => Effect.delay(work, milliseconds),
      Silent: () => Effect.never,
      Lost: () => Effect.flatMap(Effect.exit(work), () => Effect.fail(new PlatformUnavailable())),
      SecurityUnreadable: () => unreadable
    })

  /** Ends the session whose key is used at another place as well. */
  const duplicated = Effect.fnUntraced(function*(authorization: SimulatedAuthorization) {
    yield* changes.make((_, end) => end([authorization], "key_duplicated"))
    return yield* new NoSession({ reason: "key_duplicated" })
  })

  const ofSession = Effect.fnUntraced(function*<A, E>(
    sessionRef: SessionRef,
    operation: PlatformOperation,
    work: Effect.Effect<A, E | NoSession>,
    unreadable: Effect.Effect<A, E | NoSession>
  ): Effect.fn.Return<A, E | MessengerFailure> {
    yield* store.outsideTransaction
    const known = yield* store.authorizationOf(sessionRef)
    const answer = yield* begun(known?.user_id ?? null, operation)
    if (known !== null && operation !== "open" && known.place !== place) return yield* duplicated(known)
    return yield* follow(answer, work, unreadable)
  })

  const ofLogin = Effect.fnUntraced(function*<A, E>(
    user: Effect.Effect<MessengerUserId | null>,
    operation: PlatformOperation,
    work: Effect.Effect<A, E>
  ): Effect.fn.Return<A, E | LoginCommon> {
    yield* store.outsideTransaction
    return yield* follow(yield* begun(yield* user, operation), work, work)
  })

  return {
    session: (sessionRef, operation, work, unreadable = work) =>
      store.reached(ofSession(sessionRef, operation, work, unreadable)),
    login: (user, operation, work) => store.reached(ofLogin(user, operation, work))
  }
}
