/** The common input of both kinds of decisions. */
import { canSignOut, enforcementActiveAt } from "./Deadline.ts"
import type { AccountChange, SessionUpsert, Signal, Takeover } from "./Decision.ts"
import type { DecideOptions, ProtectionFacts, WatchedSession } from "./Facts.ts"
import { accountEvent, mailedSession, type Notice } from "./JournalNotices.ts"
import type { RemainingSessions } from "./LostSessions.ts"
import type { SessionRow } from "./ProtectionRows.ts"
import type { Terms } from "./Review.ts"
import type { ReportedAttempts } from "./Signals.ts"

export interface DecisionInput {
  readonly facts: ProtectionFacts
  /** The service's sessions that are left. */
  readonly left: RemainingSessions
  /** Login codes that the platform has sent. */
  readonly codes: number
  readonly now: Date
  readonly options: DecideOptions
}

/** The terms of deadlines and endings, with these sessions of the service. */
export const termsOf = ({ facts, now, options }: DecisionInput, own: RemainingSessions["own"]): Terms => ({
  account: facts.account,
  enforcement: enforcementActiveAt(own) ?? facts.account.enforcement_active_at,
  retryAt: facts.monitor.sign_out_retry_at,
  reviewWindow: options.reviewWindow,
  now
})

/** The moment from which the platform lets the service act, where that has changed. */
export const enforcementChange = ({ account }: ProtectionFacts, { enforcement }: Terms): AccountChange =>
  enforcement?.getTime() === account.enforcement_active_at?.getTime() ? {} : { enforcement_active_at: enforcement }

/** The response to a takeover: none where it is turned off, and no call before the platform allows it. */
export const takeoverOf = (
  { facts, now }: DecisionInput,
  signals: ReadonlyArray<Signal>,
  enforcement: Date | null
): Takeover | null => {
  if (signals.length === 0) return null
  if (!facts.lockdown) return { signals, response: "none", stopped: false }
  return { signals, response: canSignOut(enforcement, now) ? "sign_out" : "queued", stopped: false }
}

/** The reports of attempts to sign in. */
export const attemptNotices = ({ reported }: ReportedAttempts): ReadonlyArray<Notice> =>
  reported.map((device) => [
    accountEvent("login.attempted", "external", { seen: device === null ? "code" : "password_pending" }),
    { kind: "login.attempted", session: device === null ? null : mailedSession(device) }
  ])

/** The signals of attempts to sign in. */
export const attemptSignals = ({ reported }: ReportedAttempts): ReadonlyArray<Signal> =>
  reported.map((device) => ({ code: "T7", what: device === null ? "code" : "password_pending" }))

const same = (one: unknown, other: unknown): boolean =>
  one === other || one instanceof Date && other instanceof Date && one.getTime() === other.getTime()

/** The rows that are new or differ from what is stored. */
export const upserts = (
  stored: ReadonlyArray<WatchedSession>,
  rows: ReadonlyArray<SessionRow>
): ReadonlyArray<SessionUpsert> => {
  const before = new Map(stored.map((row) => [row.record_id, Object.entries(row)]))
  return rows.flatMap((row) => {
    const { record_id, ...rest } = row
    const old = record_id === null ? undefined : before.get(record_id)
    const now = new Map<string, unknown>(Object.entries(row))
    const unchanged = old !== undefined && old.every(([name, value]) => same(value, now.get(name)))
    return unchanged ? [] : [{ record_id, row: rest }]
  })
}
