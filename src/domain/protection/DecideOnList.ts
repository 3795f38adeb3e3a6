/** The consequences of a list that was read, in the order of section 12.6 of the specification. */
import { Duration, Struct } from "effect"
import { attemptsRemembered, endingsTogether, lookPeriod } from "../Limits.ts"
import { after } from "../Moments.ts"
import type { Decision, EndedSession, ServiceSessionChange, Signal, Takeover } from "./Decision.ts"
import {
  attemptNotices,
  attemptSignals,
  type DecisionInput,
  enforcementChange,
  takeoverOf,
  termsOf,
  upserts
} from "./DecisionInput.ts"
import type { Facets, ProtectionFacts, WatchedSession } from "./Facts.ts"
import { collected, type Notice } from "./JournalNotices.ts"
import { type RemainingSessions, withoutPaired } from "./LostSessions.ts"
import type { SeenList } from "./Observation.ts"
import { lastPollWasGood } from "./Polling.ts"
import { followed, isPending, type SessionRow } from "./ProtectionRows.ts"
import {
  baselined,
  detectedNotice,
  dueAt,
  endedByOthers,
  endedByOthersNotice,
  endedByService,
  endedNotice,
  endings,
  isSpared,
  requeued,
  spared,
  type Terms,
  undoneNotice,
  whenDue,
  whenLater,
  withDeadline
} from "./Review.ts"
import { accountNotices, seenAccount, twoFaLost } from "./SeenAccount.ts"
import type { RecognizedSessions } from "./ServiceSessionFacts.ts"
import { attempted, looked } from "./Signals.ts"
import {
  hijacked,
  hijackedSince,
  isHijacked,
  isOpen,
  lockReason,
  signalNotices,
  stoppedNotice,
  strangerSeen,
  strangersEnded,
  takeoverSignals
} from "./Takeover.ts"

/** A paired session that is not listed any more is lost. */
const withList = ({ facts, left, now }: DecisionInput, { missingPaired }: RecognizedSessions): RemainingSessions => {
  if (missingPaired === null) return left
  const lost = withoutPaired(facts, left.own, missingPaired, "revoked", now)
  return {
    ...lost,
    changes: [...left.changes, ...lost.changes],
    account: { ...left.account, ...lost.account },
    notices: [...left.notices, ...lost.notices],
    signals: [...left.signals, ...lost.signals]
  }
}

/** Own sessions that are listed under another id than before. */
const renamed = (own: RemainingSessions["own"], { others }: RecognizedSessions): ReadonlyArray<ServiceSessionChange> =>
  own.flatMap(({ id, seen_as, slot }) => {
    const seen = others.get(id)
    return seen === undefined || seen.id === seen_as ? [] : [{ id, slot, seen_as: seen.id }]
  })

/** The end of a row that is not listed any more: by the service, which had signed it out, or by another party. */
const ended = (
  row: WatchedSession,
  good: boolean,
  now: Date
): { readonly ended: EndedSession; readonly notices: Notice } => {
  const reason = row.ending_reason ?? row.withheld_reason
  if (reason !== null && row.ending_intent !== null) {
    return { ended: endedByService(row, reason, now), notices: endedNotice(row, reason, row.ending_intent) }
  }
  const actor = good ? "external" : "unknown"
  return { ended: endedByOthers(row, actor, now), notices: endedByOthersNotice(row, actor) }
}

/** Closes the intents of sign-outs that an admin has decided against. */
const sparedNotices = (rows: ReadonlyArray<SessionRow>): ReadonlyArray<Notice> =>
  rows.flatMap((row) =>
    isSpared(row) && row.ending_reason !== null && row.ending_intent !== null
      ? [undoneNotice(row.id, row.ending_reason, row.ending_intent, "approved")]
      : []
  )

/** T5: two sessions or more that another party ended within ten minutes, between good polls. */
const endedTogether = (
  { endedOutside, monitor }: ProtectionFacts,
  outside: number,
  now: Date
): ReadonlyArray<Signal> => {
  const since = now.getTime() - Duration.toMillis(endingsTogether)
  const watched = monitor.last_ok_at !== null && monitor.last_ok_at.getTime() >= since
  const before = endedOutside.filter((moment) => moment.getTime() >= since).length
  return outside > 0 && watched && before + outside >= 2 ? [{ code: "T5", what: "sessions_ended" }] : []
}

/** A session of the service was revoked within a day, and no list has been judged since. */
const revokedBefore = ({ revoked_at }: Facets, now: Date): ReadonlyArray<Signal> =>
  revoked_at !== undefined && after(new Date(revoked_at), attemptsRemembered) >= now
    ? [{ code: "T6", what: "service_session" }]
    : []

/** A takeover that is answered: one that this poll detects, one that an earlier poll has detected, or both. */
interface AnsweredTakeover {
  readonly detected: Takeover | null
  readonly since: boolean
}

/** Marks what is to be signed out, of a takeover or at its deadline, and queues what cannot be yet. */
const marked = (
  rows: ReadonlyArray<SessionRow>,
  { detected, since }: AnsweredTakeover,
  terms: Terms
): ReadonlyArray<SessionRow> =>
  (detected !== null ? hijacked(rows, terms.now) : since ? hijackedSince(rows, terms.now) : rows)
    .map((row) => whenLater(whenDue(row, terms), terms))

/** The part of a takeover that is still open, and if it is stopped now: at least one session ended, or none is left. */
const openTakeover = (
  before: string | undefined,
  { detected, since }: AnsweredTakeover,
  rows: ReadonlyArray<SessionRow>,
  gone: ReadonlyArray<WatchedSession>
): { readonly open: string | undefined; readonly stopped: string | null } => {
  const reason = detected === null ? before : lockReason(detected.signals)
  if (reason === undefined) return { open: undefined, stopped: null }
  const left = rows.some(isHijacked)
  const over = before !== undefined && gone.some(isHijacked) || (detected !== null || since) && !left
  return { open: left && !over ? reason : undefined, stopped: over ? reason : null }
}

/** Decides on a list. */
export const decideOnList = (stage: DecisionInput, seen: SeenList, list: RecognizedSessions): Decision => {
  const { codes, facts, now } = stage
  const left = withList(stage, list)
  const terms = termsOf(stage, left.own)
  const login = { open: facts.account.login_open, device: stage.options.device }
  const attempts = attempted(facts.facets, { waiting: list.waiting, codes }, login, now)
  const otherList = facts.facets.through !== undefined && facts.facets.through !== seen.through
  const rows = followed(facts.sessions, list, otherList, now)
  const good = lastPollWasGood(facts)
  const gone = rows.gone.map((row) => ended(row, good, now))
  const known = rows.known.map((row) => requeued(spared(row), now))
  const since = isOpen(facts, [...known, ...rows.gone])
  const added = rows.added.map((row) => withDeadline(baselined(row, list.current, terms), terms, since))
  const reviewed = [...known.map((row) => withDeadline(row, terms, since)), ...added]
  const look = looked(facts.facets, seen.security, seen.profile)
  const lost = twoFaLost(facts, seen.security)
  const outside = gone.filter(({ ended }) => ended.termination?.actor === "external").length
  const signals = [...look.signals, ...endedTogether(facts, outside, now), ...left.signals]
  const strangers = reviewed.some(isPending)
  const takeover = takeoverOf(
    stage,
    takeoverSignals([...signals, ...revokedBefore(facts.facets, now)], {
      now: strangers,
      lately: strangers || strangerSeen(facts, now)
    }),
    terms.enforcement
  )
  const answered = { detected: takeover?.response === "none" ? null : takeover, since }
  const strange = marked(reviewed, answered, terms)
  const { open, stopped } = openTakeover(facts.facets.takeover, answered, strange, rows.gone)
  const notices: ReadonlyArray<Notice> = [
    ...left.notices,
    ...accountNotices(facts, lost),
    ...sparedNotices(rows.known),
    ...gone.map(({ notices }) => notices),
    ...added.filter(isPending).map(detectedNotice),
    ...attemptNotices(attempts),
    ...signalNotices(signals, takeover),
    ...(stopped === null ? [] : [stoppedNotice(rows.gone.filter(isHijacked).length)])
  ]
  return {
    upserts: upserts(facts.sessions, [...rows.own, ...strange]),
    ended: [
      ...rows.dropped.map(({ id, record_id }) => ({ record_id, session_id: id, termination: null })),
      ...gone.map(({ ended }) => ended)
    ],
    endings: endings(strange, terms),
    signals: [...attemptSignals(attempts), ...signals],
    takeover: takeover === null ? null : { ...takeover, stopped: stopped !== null },
    account: {
      ...left.account,
      ...seenAccount(facts, look.facets, seen.security, seen.profile),
      ...enforcementChange(facts, terms),
      ...(stopped === null ? {} : { takeover_stopped_at: now, locked_at: now, lock_reason: stopped })
    },
    monitor: {
      last_polled_at: now,
      last_ok_at: now,
      last_poll_error: null,
      failures: 0,
      first_failure_at: null,
      flood_until: null
    },
    own: [...left.changes, ...renamed(left.own, list)],
    facets: {
      ...Struct.omit(look.facets, ["away", "revoked_at", "silent", "takeover", "two_fa_lost"]),
      attempts: attempts.attempts,
      through: seen.through,
      ...strangersEnded(rows.gone, facts.monitor.last_ok_at ?? now),
      ...(lost ? { two_fa_lost: true } : {}),
      ...(open === undefined ? {} : { takeover: open })
    },
    ...collected(notices),
    freesIdentity: false,
    dueAt: dueAt(strange, terms),
    lookAt: strange.some(isPending)
      ? now
      : seen.security === undefined
      ? facts.monitor.look_at ?? now
      : after(now, lookPeriod)
  }
}
