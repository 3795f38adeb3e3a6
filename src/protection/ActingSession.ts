/** The choice of the service's own session that signs others out. */
import { Clock, Effect, type Scope } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { AuthorizationId } from "../domain/messenger/Messenger.ts"
import { oldestAble, sameIn } from "../domain/protection/ServiceSessionFacts.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import type { LiveSession } from "../ports/messenger/MessengerSession.ts"
import type { ClaimedAccount } from "../ports/protection/Monitors.ts"
import { Watch } from "../ports/protection/MonitorStore.ts"
import type { LookResult } from "./Observe.ts"

/** A session to sign out, as the one that acts sees it. */
export interface SignOutTarget {
  readonly live: LiveSession
  readonly id: AuthorizationId
}

/** The list of the oldest own session that may sign out, where that is not the one that made the poll. */
const older = Effect.fnUntraced(function*(claimed: ClaimedAccount, through: string) {
  const sessions = yield* LiveSessions
  const watch = yield* Watch
  const now = new Date(yield* Clock.currentTimeMillis)
  const oldest = oldestAble(yield* watch.own(claimed), now)
  if (oldest === undefined || oldest.id === through) return null
  return yield* Effect.gen(function*() {
    const live = yield* sessions.use(claimed, oldest.session_ref)
    return { live, list: yield* inTime(live.authorizations) }
  }).pipe(Effect.orElseSucceed(() => null))
})

/**
 * Signs out the sessions that were seen: by the oldest own session, because the platform lets it first.
 *
 * Where an entry of its list is ambiguous, the session that made the poll signs out.
 */
export const acting = Effect.fnUntraced(function*(
  claimed: ClaimedAccount,
  { observation: { outcome }, through }: LookResult
): Effect.fn.Return<((id: string) => SignOutTarget) | null, ServiceUnavailable, LiveSessions | Scope.Scope | Watch> {
  if (through === null || outcome.kind !== "seen") return null
  const other = yield* older(claimed, outcome.through)
  return (id) => {
    const seen = outcome.authorizations.find((authorization) => authorization.id === id)
    const match = seen === undefined || other === null ? undefined : sameIn(other.list, seen)
    return other !== null && match !== undefined
      ? { live: other.live, id: match.id }
      : { live: through, id: AuthorizationId.make(id) }
  }
})
