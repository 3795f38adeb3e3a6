/** Through which of the service's own sessions others are signed out. */
import { Effect, type Scope } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { type Authorization, AuthorizationId } from "../domain/Messenger.ts"
import { isActing } from "../domain/protection/Deadline.ts"
import type { LiveSession } from "../ports/MessengerSession.ts"
import { inTime, LiveSessions } from "./LiveSessions.ts"
import type { Claimed } from "./Monitors.ts"
import type { Looked } from "./Observe.ts"
import { Watch } from "./Watch.ts"

/** A session to sign out, as the one that acts sees it. */
export interface Target {
  readonly live: LiveSession
  readonly id: AuthorizationId
}

const isSame = (one: Authorization, other: Authorization): boolean =>
  one.created_at?.getTime() === other.created_at?.getTime() && one.device_model === other.device_model &&
  one.platform === other.platform && one.app_name === other.app_name && one.app_version === other.app_version

/** The list of the oldest own session, where that is not the one that was looked through. */
const elder = Effect.fnUntraced(function*(claimed: Claimed, through: string) {
  const sessions = yield* LiveSessions
  const watch = yield* Watch
  const [oldest] = (yield* watch.own(claimed)).filter(isActing)
    .toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime())
  if (oldest === undefined || oldest.id === through) return null
  return yield* Effect.gen(function*() {
    const live = yield* sessions.use(claimed, oldest.session_ref)
    return { live, list: yield* inTime(live.authorizations) }
  }).pipe(Effect.orElseSucceed(() => null))
})

/**
 * How the sessions that were seen are signed out: by the oldest own session, because the platform lets it first.
 *
 * Ids belong to the list of the session that read them. What the oldest one lists is matched by what cannot be chosen
 * alone; where that is not unique, the one that was looked through signs out.
 */
export const acting = Effect.fnUntraced(function*(
  claimed: Claimed,
  { observation: { outcome }, through }: Looked
): Effect.fn.Return<((id: string) => Target) | null, ServiceUnavailable, LiveSessions | Scope.Scope | Watch> {
  if (through === null || outcome.kind !== "seen") return null
  const other = yield* elder(claimed, outcome.through)
  return (id) => {
    const seen = outcome.authorizations.find((authorization) => authorization.id === id)
    const found = seen === undefined || other === null ? [] : other.list.filter((each) => isSame(each, seen))
    const [match] = found
    return other !== null && match !== undefined && found.length === 1 && !match.current
      ? { live: other.live, id: match.id }
      : { live: through, id: AuthorizationId.make(id) }
  }
})
