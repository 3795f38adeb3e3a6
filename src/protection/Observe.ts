/** Polls an account on the messenger. */
import { Clock, Effect, type Scope } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { type Authorization, cleanText } from "../domain/messenger/Messenger.ts"
import { seenMark } from "../domain/protection/ListDigest.ts"
import type { ListResult, Loss, Observation, SeenList } from "../domain/protection/Observation.ts"
import { heldOf, judge, type SlotChange } from "../domain/security/Secrets.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import type { LiveSession, MessengerFailure } from "../ports/messenger/MessengerSession.ts"
import type { ClaimedAccount } from "../ports/protection/Monitors.ts"
import { Watch } from "../ports/protection/MonitorStore.ts"
import { Secrets } from "../ports/security/Secrets.ts"
import { RefusalLog } from "./RefusalLog.ts"

/** The observation, and its source: the session that answered, and the digest of its list. */
export interface LookResult {
  readonly observation: Observation
  readonly through: LiveSession | null
  readonly seenMark: string | null
  /** True if nothing has changed since the last poll, and no more was requested. */
  readonly same: boolean
  /** The state of the secrets that the service holds: those that are valid on the messenger. */
  readonly secrets: ReadonlyArray<SlotChange>
}

type ListedAuthorizations = {
  readonly own: string
  readonly live: LiveSession
  readonly authorizations: ReadonlyArray<Authorization>
}

const outcomeOf = (failure: Exclude<MessengerFailure, { readonly _tag: "NoSession" }>): ListResult => {
  switch (failure._tag) {
    case "PlatformBusy":
      return { kind: "flood", seconds: failure.retryAfterSeconds }
    case "PlatformUnavailable":
      return { kind: "unavailable", error: "unavailable" }
    case "PlatformRefused":
      return { kind: "unavailable", error: "refused", said: cleanText(failure.reason) }
  }
}

/** Asks through one own session after another until one lives; answers which were lost on the way. */
const ask = Effect.fnUntraced(function*(claimed: ClaimedAccount) {
  const sessions = yield* LiveSessions
  const watch = yield* Watch
  const lost: Array<Loss> = []
  const attempt = (own: NonNullable<ClaimedAccount["main"]>) =>
    Effect.gen(function*() {
      const live = yield* sessions.use(claimed, own.session_ref)
      return { own: own.id, live, authorizations: yield* inTime(live.authorizations) } satisfies ListedAuthorizations
    }).pipe(Effect.result)
  const tried = (own: NonNullable<ClaimedAccount["main"]>) =>
    Effect.gen(function*() {
      const result = yield* attempt(own)
      if (result._tag === "Success" || result.failure._tag !== "NoSession") return result
      yield* sessions.close(own.session_ref)
      lost.push({ own: own.id, reason: result.failure.reason })
      return null
    })
  const first = claimed.main === null ? null : yield* tried(claimed.main)
  if (first !== null) return { answer: first, lost }
  const others = (yield* watch.own(claimed)).filter(({ id, slot }) => slot === "paired" && id !== claimed.main?.id)
  for (const other of others) {
    const answer = yield* tried(other)
    if (answer !== null) return { answer, lost }
  }
  return { answer: null, lost }
})

/** Reads what changes less often; what fails is read at the next poll. */
const details = Effect.fnUntraced(function*({ accountId, organizationId }: ClaimedAccount, live: LiveSession) {
  const candidates = yield* (yield* Secrets).candidates({ organizationId, accountId })
  const security = yield* Effect.option(inTime(live.security(heldOf(candidates))))
  const profile = yield* Effect.option(inTime(live.profile))
  return {
    secrets: security._tag === "Some" ? judge(candidates, security.value) : [],
    seen: {
      ...(security._tag === "Some" ? { security: security.value } : {}),
      ...(profile._tag === "Some" ? { profile: profile.value } : {})
    }
  }
})

const silent = (outcome: ListResult, lost: ReadonlyArray<Loss>, codes: number): LookResult => ({
  observation: { outcome, lost, codes },
  through: null,
  seenMark: null,
  same: false,
  secrets: []
})

const seen = Effect.fnUntraced(function*(
  claimed: ClaimedAccount,
  codes: number
): Effect.fn.Return<LookResult, ServiceUnavailable, LiveSessions | RefusalLog | Secrets | Scope.Scope | Watch> {
  const watch = yield* Watch
  const { answer, lost } = yield* ask(claimed)
  if (answer === null) return silent({ kind: "lost" }, lost, codes)
  if (answer._tag === "Failure") {
    const { failure } = answer
    yield* (yield* RefusalLog).note("read an account's sessions", failure, claimed)
    return failure._tag === "NoSession"
      ? silent({ kind: "lost" }, lost, codes)
      : silent(outcomeOf(failure), lost, codes)
  }
  const { authorizations, live, own } = answer.success
  const digest = watch.digest(JSON.stringify([own, seenMark(authorizations)]))
  const now = yield* Clock.currentTimeMillis
  const changed = digest !== claimed.seen_mark || lost.length > 0
  const due = claimed.look_at === null || claimed.look_at.getTime() <= now
  const more = changed || due || codes > 0 ? yield* details(claimed, live) : { secrets: [], seen: {} }
  const found: SeenList = { kind: "seen", through: own, authorizations, ...more.seen }
  return {
    observation: { outcome: found, lost, codes },
    through: live,
    seenMark: digest,
    same: !changed && !due && codes === 0,
    secrets: more.secrets
  }
})

/** Polls the account: its sessions, and security and profile where that is due or the sessions have changed. */
export const look = (
  claimed: ClaimedAccount
): Effect.Effect<LookResult, ServiceUnavailable, LiveSessions | RefusalLog | Secrets | Scope.Scope | Watch> =>
  Effect.flatMap(LiveSessions, (sessions) =>
    Effect.flatMap(sessions.takeCodes(claimed), (codes) =>
      // No poll shows again that they were sent.
      Effect.onError(seen(claimed, codes), () => sessions.keepCodes(claimed, codes))))
