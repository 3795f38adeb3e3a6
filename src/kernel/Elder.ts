/** The account's older own session, through which sessions are signed out where the platform does not let the main one yet. */
import { Clock, Duration, Effect, type Scope } from "effect"
import { longestBeforeElder } from "../domain/Limits.ts"
import { type Authorization, AuthorizationId } from "../domain/Messenger.ts"
import { oldestAble, sameIn } from "../domain/protection/Own.ts"
import { Db } from "../ports/Db.ts"
import { type LiveSession, MessengerSession } from "../ports/MessengerSession.ts"
import { OwnSessions } from "../ports/OwnSessions.ts"
import type { SecretsOf } from "../ports/Secrets.ts"
import { inTime } from "./LiveCalls.ts"

/** Signs out the session that the main one lists under the id; null where no own session is old enough or sees it. */
export type Elder = (
  main: LiveSession,
  id: string
) => Effect.Effect<ReturnType<LiveSession["signOut"]> | null>

interface Lists {
  readonly live: LiveSession
  readonly own: ReadonlyArray<Authorization>
  readonly seen: ReadonlyArray<Authorization>
}

const open = Effect.fnUntraced(function*(of: SecretsOf, main: LiveSession) {
  const db = yield* Db
  const messenger = yield* MessengerSession
  const own = yield* OwnSessions
  const now = new Date(yield* Clock.currentTimeMillis)
  const oldest = oldestAble(yield* db.read(of.organizationId, own.second(of)), now)
  if (oldest === undefined) return null
  const live = yield* inTime(messenger.open(oldest.session_ref))
  const [listed, seen] = yield* Effect.all([inTime(live.authorizations), inTime(main.authorizations)], {
    concurrency: "unbounded"
  })
  return { live, own: listed, seen } satisfies Lists
})

/**
 * The older session of the account, which is opened and asked once it is needed, for as long as the scope lasts: not
 * where the request, which began `since`, would take too long.
 */
export const elder = (
  of: SecretsOf,
  since: Date
): Effect.Effect<Elder, never, Db | MessengerSession | OwnSessions | Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Effect.context<Db | MessengerSession | OwnSessions | Scope.Scope>()
    let opened: Effect.Effect<Lists | null> | undefined
    return Effect.fnUntraced(function*(main, id) {
      const left = since.getTime() + Duration.toMillis(longestBeforeElder) - (yield* Clock.currentTimeMillis)
      if (left <= 0) return null
      opened ??= yield* open(of, main).pipe(
        Effect.timeout(left),
        Effect.orElseSucceed(() => null),
        Effect.provideContext(services),
        Effect.cached
      )
      const lists = yield* opened
      const seen = lists?.seen.find((one) => one.id === id)
      const found = lists === null || seen === undefined ? undefined : sameIn(lists.own, seen)
      return lists === null || found === undefined ? null : lists.live.signOut(AuthorizationId.make(found.id))
    })
  })
