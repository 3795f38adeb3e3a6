/** Applies the outcomes of sign-outs to the facts: sessions end, wait for another try, or are found to be gone. */
import { signOutRetry } from "../Limits.ts"
import { after } from "../Moments.ts"
import { earliest } from "./Deadline.ts"
import type { EndedSession, OutcomeChanges, SignOutAttempt } from "./Decision.ts"
import { upserts } from "./DecisionInput.ts"
import type { ProtectionFacts, WatchedSession } from "./Facts.ts"
import { collected, type Notice } from "./JournalNotices.ts"
import {
  dueAt,
  endedByOthers,
  endedByOthersNotice,
  endedByService,
  endedNotice,
  isSpared,
  spared,
  undoneNotice
} from "./Review.ts"
import { isHijacked, stoppedNotice, strangersEnded } from "./Takeover.ts"

/** A session after its attempt. Its row is null if the session no longer exists. */
interface SignOutOutcome {
  readonly row: WatchedSession | null
  readonly ended: EndedSession | null
  readonly notices: ReadonlyArray<Notice>
}

const undone = ({ intent, outcome, reason, session_id }: SignOutAttempt): Notice =>
  undoneNotice(session_id, reason, intent, outcome)

/** Queues the sign-out again, unless an admin has decided otherwise in the meantime. */
const waiting = (row: WatchedSession, now: Date): WatchedSession =>
  row.ending_reason === null || isSpared(row) ? row : { ...row, queued_at: row.queued_at ?? now }

const applied = (row: WatchedSession, attempt: SignOutAttempt, now: Date): SignOutOutcome => {
  const { again, intent, outcome, reason } = attempt
  if (outcome === "unavailable") return { row: waiting(row, now), ended: null, notices: [] }
  if (outcome === "skipped" && again) return { row, ended: null, notices: [] }
  if (outcome === "done" || outcome === "unknown_authorization" && again) {
    return { row: null, ended: endedByService(row, reason, now), notices: [endedNotice(row, reason, intent)] }
  }
  if (outcome === "unknown_authorization") {
    const notices = [undone(attempt), endedByOthersNotice(row, "external")]
    return { row: null, ended: endedByOthers(row, "external", now), notices }
  }
  const left = outcome === "skipped" ? row : waiting(row, now)
  return { row: spared({ ...left, ending_intent: null }), ended: null, notices: [undone(attempt)] }
}

/** The moment until which no further sign-out is sent; null where the platform refused none. */
const refusedUntil = (attempts: ReadonlyArray<SignOutAttempt>, now: Date): Date | null =>
  earliest(
    attempts.filter(({ outcome }) => outcome === "flood" || outcome === "locked")
      .map(({ retryAt }) => retryAt ?? after(now, signOutRetry))
  )

/** Applies the outcomes of the attempts to the facts, which were read after the attempts. */
export const applyOutcomes = (
  facts: ProtectionFacts,
  attempts: ReadonlyArray<SignOutAttempt>,
  now: Date
): OutcomeChanges => {
  const tried = new Map(attempts.map((attempt) => [attempt.session_id, attempt]))
  const outcomes = facts.sessions.map((row): SignOutOutcome => {
    const attempt = tried.get(row.id)
    return attempt === undefined ? { row, ended: null, notices: [] } : applied(row, attempt, now)
  })
  const stored = new Set(facts.sessions.map(({ id }) => id))
  const rows = outcomes.flatMap(({ row }) => row === null ? [] : [row])
  const over = facts.sessions.filter((_, place) => outcomes[place]?.row === null)
  const ofTakeover = attempts.filter(({ reason }) => reason === "hijacked")
  const hijacked =
    ofTakeover.filter(({ again, outcome }) => outcome === "done" || outcome === "unknown_authorization" && again).length
  // If another party has ended the last of them, none is left to end.
  const noneLeft = ofTakeover.some(({ outcome }) => outcome === "unknown_authorization") && !rows.some(isHijacked)
  const { takeover, ...facets } = facts.facets
  const stopped = takeover !== undefined && (hijacked > 0 || noneLeft)
  const retryAt = refusedUntil(attempts, now)
  const notices: ReadonlyArray<Notice> = [
    ...outcomes.flatMap(({ notices }) => notices),
    ...attempts.filter(({ outcome, session_id }) => outcome !== "unavailable" && !stored.has(session_id)).map(undone),
    ...(stopped ? [stoppedNotice(hijacked)] : [])
  ]
  return {
    upserts: upserts(facts.sessions, rows),
    ended: outcomes.flatMap(({ ended }) => ended === null ? [] : [ended]),
    account: stopped ? { takeover_stopped_at: now, locked_at: now, lock_reason: takeover } : {},
    monitor: retryAt === null ? {} : { sign_out_retry_at: retryAt },
    facets: { ...(stopped ? facets : facts.facets), ...strangersEnded(over, now) },
    ...collected(notices),
    dueAt: dueAt(rows, {
      enforcement: facts.account.enforcement_active_at,
      retryAt: retryAt ?? facts.monitor.sign_out_retry_at,
      now
    })
  }
}
