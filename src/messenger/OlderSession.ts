/** The account's older own session, which does what the platform does not let the main one do yet. */
import { Clock, Duration, Effect, type Scope } from "effect"
import { slotOf } from "../domain/accounts/Slot.ts"
import { longestBeforeOlderSession } from "../domain/Limits.ts"
import { type Authorization, AuthorizationId } from "../domain/messenger/Messenger.ts"
import { oldestAble, sameIn } from "../domain/protection/ServiceSessionFacts.ts"
import { Db } from "../ports/Db.ts"
import { type LiveSession, MessengerSession } from "../ports/messenger/MessengerSession.ts"
import { ServiceSessions } from "../ports/protection/ServiceSessions.ts"
import type { SecretsOf } from "../ports/security/Secrets.ts"
import { inTime } from "./BoundedCalls.ts"

export interface OlderSession {
  /** The session; null where no own session is old enough, or it does not answer in time. */
  readonly session: Effect.Effect<LiveSession | null>
  /**
   * Signs out the session that the main one lists under the id; null where there is no older one, or it does not see
   * it.
   */
  readonly signOut: (
    main: LiveSession,
    id: string
  ) => Effect.Effect<ReturnType<LiveSession["signOut"]> | null>
}

interface Lists {
  readonly live: LiveSession
  readonly own: ReadonlyArray<Authorization>
  readonly seen: ReadonlyArray<Authorization>
}

const open = Effect.fnUntraced(function*(of: SecretsOf) {
  const db = yield* Db
  const messenger = yield* MessengerSession
  const own = yield* ServiceSessions
  const now = new Date(yield* Clock.currentTimeMillis)
  const oldest = oldestAble(yield* db.read(of.organizationId, own.second(of)), now)
  return oldest === undefined ? null : yield* inTime(messenger.open(oldest.session_ref, slotOf(of.accountId)))
})

/** Both sessions' lists: a session is found in both by the fields that they share. */
const compared = Effect.fnUntraced(function*(live: LiveSession, main: LiveSession) {
  const [listed, seen] = yield* Effect.all([inTime(live.authorizations), inTime(main.authorizations)], {
    concurrency: "unbounded"
  })
  return { live, own: listed, seen } satisfies Lists
})

/**
 * The account's older session, opened when it is first needed and for as long as the scope lasts, unless the request,
 * which began at `since`, would take too long.
 */
export const olderSession = (
  of: SecretsOf,
  since: Date
): Effect.Effect<OlderSession, never, Db | MessengerSession | ServiceSessions | Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Effect.context<Db | MessengerSession | ServiceSessions | Scope.Scope>()
    const left = Effect.map(
      Clock.currentTimeMillis,
      (now) => since.getTime() + Duration.toMillis(longestBeforeOlderSession) - now
    )
    const inTimeLeft = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(left, (millis) =>
        millis <= 0
          ? Effect.succeed(null)
          : Effect.orElseSucceed(Effect.timeout(effect, millis), () => null))
    const session = yield* Effect.cached(Effect.provideContext(inTimeLeft(open(of)), services))
    let lists: Effect.Effect<Lists | null> | undefined
    return {
      session: Effect.flatMap(left, (millis) => millis <= 0 ? Effect.succeed(null) : session),
      signOut: Effect.fnUntraced(function*(main, id) {
        if ((yield* left) <= 0) return null
        lists ??= yield* Effect.cached(
          Effect.flatMap(session, (live) => live === null ? Effect.succeed(null) : inTimeLeft(compared(live, main)))
        )
        const both = yield* lists
        const seen = both?.seen.find((one) => one.id === id)
        const found = both === null || seen === undefined ? undefined : sameIn(both.own, seen)
        return both === null || found === undefined ? null : both.live.signOut(AuthorizationId.make(found.id))
      })
    }
  })
