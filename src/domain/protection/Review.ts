/** The rules by which a session gets its deadline, and ends (specification 12.5). */
import type { Duration } from "effect"
import type { Authorization } from "../messenger/Messenger.ts"
import { canSignOut, earliest, isOnSight, reviewDeadline } from "./Deadline.ts"
import type { EndedSession, SessionEnding } from "./Decision.ts"
import type { EndingReason, GuardedAccount, WatchedSession } from "./Facts.ts"
import {
  deviceLabel,
  endingAction,
  endingDetails,
  isAutokill,
  mailedSession,
  type Notice,
  sessionEvent
} from "./JournalNotices.ts"
import { isPending, type SessionRow } from "./ProtectionRows.ts"

/** The terms that deadlines and endings are decided by. */
export interface Terms {
  readonly account: Pick<GuardedAccount, "baselined" | "locked_at" | "resumed_at" | "security_lock">
  readonly enforcement: Date | null
  /** No sign-out is sent before. */
  readonly retryAt: Date | null
  readonly reviewWindow: Duration.Duration
  readonly now: Date
}

/** Marks a new session as one that was there before the service. */
export const baselined = (row: SessionRow, asking: Authorization, { account }: Terms): SessionRow =>
  !account.baselined && row.created_at !== null && asking.created_at !== null && row.created_at <= asking.created_at
    ? { ...row, baseline: true }
    : row

/** Queues again what a pause withheld. */
export const requeued = (row: SessionRow, now: Date): SessionRow =>
  row.withheld_at === null ? row : {
    ...row,
    queued_at: now,
    ending_reason: row.withheld_reason ?? row.ending_reason ?? "rejected",
    ending_at: now,
    withheld_at: null,
    withheld_reason: null
  }

/** True if an admin has approved the session after it was to be signed out. */
export const isSpared = (
  { approved_at, ending_at, ending_reason }: Pick<WatchedSession, "approved_at" | "ending_at" | "ending_reason">
): boolean => ending_reason !== null && approved_at !== null && (ending_at === null || approved_at >= ending_at)

/** Takes back what an admin has decided against since. */
export const spared = <R extends SessionRow>(row: R): R =>
  isSpared(row)
    ? { ...row, queued_at: null, ending_reason: null, ending_at: null, ending_by: null, ending_intent: null }
    : row

/** The session's deadline as it is set at `now`. */
const deadlineOf = (
  { created_at, seen_at }: SessionRow,
  { account, enforcement, now, reviewWindow }: Terms,
  onSight: boolean
): Date =>
  reviewDeadline({
    enforcement,
    resumedAt: account.resumed_at,
    seenAt: seen_at,
    createdAt: created_at,
    onSight,
    reviewWindow
  }, now)

/** Gives an unreviewed session its deadline; during a takeover there is no time for a review. */
export const withDeadline = (row: SessionRow, terms: Terms, takenOver: boolean): SessionRow =>
  !isPending(row) || row.review_deadline !== null
    ? row
    : { ...row, review_deadline: deadlineOf(row, terms, takenOver || isOnSight(terms.account, terms.now)) }

/** A lock has brought the deadline forward: without it, the session would still have time for its review. */
const isEarly = (row: SessionRow, deadline: Date, terms: Terms): boolean =>
  isOnSight(terms.account, terms.now) &&
  deadline < deadlineOf(row, { ...terms, enforcement: null, now: deadline }, false)

/** Marks a session whose deadline has come. */
export const whenDue = (row: SessionRow, terms: Terms): SessionRow => {
  const { ending_reason, review_deadline } = row
  if (!isPending(row) || ending_reason !== null || review_deadline === null || review_deadline > terms.now) return row
  return { ...row, ending_reason: isEarly(row, review_deadline, terms) ? "lock" : "autokill", ending_at: terms.now }
}

/** True if sign-outs may be sent now. */
const maySignOut = ({ enforcement, now, retryAt }: Terms): boolean =>
  canSignOut(enforcement, now) && (retryAt === null || retryAt <= now)

/** Queues what cannot be signed out now. */
export const whenLater = (row: SessionRow, terms: Terms): SessionRow =>
  row.ending_reason === null || row.queued_at !== null || maySignOut(terms) ? row : { ...row, queued_at: terms.now }

const age = ({ created_at, seen_at }: SessionRow): number => (created_at ?? seen_at).getTime()

/** Unknown sessions before known ones, the youngest first. */
const byUrgency = (one: SessionRow, other: SessionRow): number =>
  Number(isPending(other)) - Number(isPending(one)) || age(other) - age(one)

const ending = (row: SessionRow, reason: EndingReason): SessionEnding => ({
  session_id: row.id,
  reason,
  by: row.ending_by,
  intent: row.ending_intent,
  action: endingAction(reason),
  details: endingDetails(reason)
})

/** The sign-outs of now, in their order. */
export const endings = (rows: ReadonlyArray<SessionRow>, terms: Terms): ReadonlyArray<SessionEnding> =>
  maySignOut(terms)
    ? rows.toSorted(byUrgency).flatMap((row) =>
      row.ending_reason === null || row.service ? [] : [ending(row, row.ending_reason)]
    )
    : []

/** The time when something is due although no poll is; what is due already is retried by the polls. */
export const dueAt = (
  rows: ReadonlyArray<Pick<SessionRow, "approved_at" | "baseline" | "ending_reason" | "review_deadline" | "service">>,
  { enforcement, now, retryAt }: Pick<Terms, "enforcement" | "now" | "retryAt">
): Date | null => {
  const open = rows.filter((row) => isPending(row) && row.ending_reason === null).map((row) => row.review_deadline)
  const waits = rows.some(({ ending_reason }) => ending_reason !== null) ? [enforcement, retryAt] : []
  return earliest([...open, ...waits].filter((moment) => moment !== null && moment > now))
}

/** The termination of a session that the service ended. */
export const endedByService = (
  row: Pick<WatchedSession, "app_name" | "device_model" | "id" | "record_id">,
  reason: EndingReason,
  now: Date
): EndedSession => ({
  record_id: row.record_id,
  session_id: row.id,
  termination: {
    device_label: deviceLabel(row),
    detected_at: now,
    actor: "service",
    reason: reason === "lock" ? "autokill" : reason
  }
})

/** The termination of a session that another party ended; `unknown` where the account was not watched. */
export const endedByOthers = (row: WatchedSession, actor: "external" | "unknown", now: Date): EndedSession => ({
  record_id: row.record_id,
  session_id: row.id,
  termination: { device_label: deviceLabel(row), detected_at: now, actor, reason: null }
})

/** The report of a session that the service ended; it closes the intent. */
export const endedNotice = (row: WatchedSession, reason: EndingReason, intent: number): Notice => [
  { ...sessionEvent(endingAction(reason), "service", row.id, endingDetails(reason)), closes: intent },
  isAutokill(reason) ? { kind: "session.autokilled", session: mailedSession(row) } : null
]

/** The report of a sign-out that was not done, and that is certain; it closes the intent. */
export const undoneNotice = (session: string, reason: EndingReason, intent: number, because: string): Notice => [
  {
    ...sessionEvent(endingAction(reason), "service", session, { ...endingDetails(reason), because }),
    outcome: "failed",
    closes: intent
  },
  null
]

/** The report of a session that another party ended. */
export const endedByOthersNotice = (row: WatchedSession, actor: "external" | "unknown"): Notice => [
  sessionEvent("session.ended", "external", row.id, { ended_by: actor }),
  null
]

/** The report of a stranger's session. */
export const detectedNotice = (row: SessionRow): Notice => [
  sessionEvent("session.detected", "external", row.id),
  { kind: "session.detected", session: mailedSession(row), deadline: row.review_deadline }
]
