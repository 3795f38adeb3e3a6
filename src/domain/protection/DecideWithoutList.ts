/** The consequences of a list that could not be read. */
import { Struct } from "effect"
import type { Decision, MonitorChange } from "./Decision.ts"
import {
  attemptNotices,
  attemptSignals,
  type DecisionInput,
  enforcementChange,
  takeoverOf,
  termsOf,
  upserts
} from "./DecisionInput.ts"
import { collected } from "./JournalNotices.ts"
import { failed, type FailedPoll, flooded, unusable } from "./Polling.ts"
import { isPending, type SessionRow } from "./ProtectionRows.ts"
import { dueAt, whenLater } from "./Review.ts"
import { attempted } from "./Signals.ts"
import { hijacked, lockReason, signalNotices, strangerSeen, takeoverSignals } from "./Takeover.ts"

/** The reason that there is no list. */
export type MissingList =
  | { readonly kind: "unavailable"; readonly error: string; readonly said?: string | null }
  | { readonly kind: "unusable"; readonly error: string }
  | { readonly kind: "flood"; readonly seconds: number }
  /** Protection stops with the last session of the service. */
  | { readonly kind: "stopped" }

const failure = ({ facts, now }: DecisionInput, because: MissingList): FailedPoll => {
  switch (because.kind) {
    case "unavailable":
      return failed(facts, because.error, now, because.said)
    case "unusable":
      return unusable(facts, because.error, now)
    case "flood":
      return flooded(facts, because.seconds, now)
    case "stopped": {
      const monitor: MonitorChange = { last_polled_at: now, last_poll_error: "session_lost" }
      return { account: {}, monitor, notices: [] }
    }
  }
}

/** Decides by stored facts only: lost sessions, codes, and the failed poll. */
export const decideWithoutList = (stage: DecisionInput, because: MissingList): Decision => {
  const { codes, facts, left, now } = stage
  const terms = termsOf(stage, left.own)
  const attempts = attempted(facts.facets, { waiting: [], codes }, {
    open: facts.account.login_open,
    device: stage.options.device
  }, now)
  const strangers = { now: facts.sessions.some(isPending), lately: strangerSeen(facts, now) }
  const judged = takeoverOf(stage, takeoverSignals(left.signals, strangers), terms.enforcement)
  const takeover = judged?.response === "sign_out" ? { ...judged, response: "queued" as const } : judged
  const marked: ReadonlyArray<SessionRow> = takeover?.response === "queued"
    ? hijacked(facts.sessions, now).map((row) => whenLater(row, { ...terms, enforcement: null }))
    : facts.sessions
  const { account, away, monitor, notices } = failure(stage, because)
  return {
    upserts: upserts(facts.sessions, marked),
    ended: [],
    endings: [],
    signals: [...attemptSignals(attempts), ...left.signals],
    takeover,
    account: { ...left.account, ...account, ...enforcementChange(facts, terms) },
    monitor,
    own: left.changes,
    facets: {
      ...(away === false ? Struct.omit(facts.facets, ["away", "silent"]) : facts.facets),
      ...(away === true ? { away } : {}),
      attempts: attempts.attempts,
      ...(takeover?.response === "queued" ? { takeover: lockReason(takeover.signals) } : {}),
      ...(left.signals.length > 0 && takeover === null ? { revoked_at: now.toISOString() } : {})
    },
    ...collected([...left.notices, ...notices, ...attemptNotices(attempts), ...signalNotices(left.signals, takeover)]),
    freesIdentity: left.stopped !== null,
    dueAt: left.stopped === null ? dueAt(marked, terms) : null,
    lookAt: facts.monitor.look_at ?? now
  }
}
