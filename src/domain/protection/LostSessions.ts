/** The consequences of the loss of the service's sessions: the paired one takes over, or protection stops. */
import type { SessionEnd } from "../messenger/Messenger.ts"
import { isActing } from "./Deadline.ts"
import type { AccountChange, ServiceSessionChange, Signal } from "./Decision.ts"
import type { ProtectionFacts, StopReason } from "./Facts.ts"
import { accountEvent, canPairAlone, type Notice } from "./JournalNotices.ts"
import type { Loss } from "./Observation.ts"
import type { ServiceSession } from "./ServiceSession.ts"

/** The state that lost sessions leave behind. */
export interface RemainingSessions {
  readonly own: ReadonlyArray<ServiceSession>
  readonly changes: ReadonlyArray<ServiceSessionChange>
  readonly account: AccountChange
  readonly notices: ReadonlyArray<Notice>
  readonly signals: ReadonlyArray<Signal>
  /** The error under which monitoring is unknown, because no session can be used and it is our own fault. */
  readonly unusable: string | null
  readonly stopped: StopReason | null
}

const ourFaults: Partial<Record<SessionEnd, string>> = { key_duplicated: "key_duplicated", never: "no_key" }

/** The platform ended the session; otherwise only our key is unusable. */
const isEnded = (reason: SessionEnd): boolean => ourFaults[reason] === undefined

const stopReason = (reason: SessionEnd): StopReason =>
  reason === "deleted" || reason === "banned" ? "account_deleted_by_platform" : "session_lost"

const changed = (own: ServiceSession, reason: SessionEnd): ServiceSessionChange => ({
  id: own.id,
  slot: isEnded(reason) ? "ended" : "retired",
  seen_as: own.seen_as
})

const untouched = (own: ReadonlyArray<ServiceSession>): RemainingSessions => ({
  own,
  changes: [],
  account: {},
  notices: [],
  signals: [],
  unusable: null,
  stopped: null
})

const revoked: Signal = { code: "T6", what: "service_session" }

const signalsOf = (reasons: ReadonlyArray<SessionEnd>): ReadonlyArray<Signal> =>
  reasons.some((reason) => reason === "revoked" || reason === "logged_out") ? [revoked] : []

const pairedLost = (facts: ProtectionFacts, error: string, now: Date): AccountChange =>
  facts.account.paired_state === "active" ? { paired_state: "lost", paired_since: now, paired_error: error } : {}

const pairedMail = (facts: ProtectionFacts, error: string): Notice[1] =>
  canPairAlone(facts) ? null : { kind: "paired_session.lost", error }

/** The paired session is not there any more, and the main one is. */
export const withoutPaired = (
  facts: ProtectionFacts,
  own: ReadonlyArray<ServiceSession>,
  paired: ServiceSession,
  reason: SessionEnd,
  now: Date
): RemainingSessions => {
  const change = changed(paired, reason)
  const left = own.filter(({ id }) => id !== paired.id)
  return {
    ...untouched(change.slot === "ended" ? left : [...left, { ...paired, slot: "retired" }]),
    changes: [change],
    account: pairedLost(facts, reason, now),
    notices: [[accountEvent("paired_session.lost", "external", { reason }), pairedMail(facts, reason)]],
    signals: signalsOf([reason])
  }
}

const promoted = (
  facts: ProtectionFacts,
  main: ServiceSession,
  paired: ServiceSession,
  reason: SessionEnd,
  now: Date
): RemainingSessions => {
  const change = changed(main, reason)
  return {
    ...untouched([
      { ...paired, slot: "main", seen_as: null },
      ...facts.own.filter(({ id }) => id !== main.id && id !== paired.id),
      ...(change.slot === "ended" ? [] : [{ ...main, slot: "retired" } as const])
    ]),
    changes: [change, { id: paired.id, slot: "main", seen_as: null }],
    account: pairedLost(facts, "promoted", now),
    notices: [[accountEvent("monitoring.failed_over", "service", { reason }), pairedMail(facts, "promoted")]],
    signals: signalsOf([reason])
  }
}

const stopped = (
  facts: ProtectionFacts,
  lost: ReadonlyArray<readonly [ServiceSession, SessionEnd]>,
  reason: StopReason,
  now: Date
): RemainingSessions => ({
  ...untouched(facts.own.filter((one) => !lost.some(([own]) => own.id === one.id))),
  changes: lost.map(([own, end]) => changed(own, end)),
  account: {
    ...pairedLost(facts, lost.find(([own]) => own.slot === "paired")?.[1] ?? "revoked", now),
    stopped_at: now,
    stop_reason: reason,
    monitoring_state: "stopped"
  },
  notices: [[accountEvent("protection.stopped", "external", { reason }), { kind: "protection.stopped", reason }]],
  signals: signalsOf(lost.map(([, end]) => end)),
  stopped: reason
})

/** The state of the service's sessions when some could not be opened any more. */
export const settleLosses = (facts: ProtectionFacts, losses: ReadonlyArray<Loss>, now: Date): RemainingSessions => {
  const lost = losses.flatMap(({ own, reason }) => {
    const session = facts.own.find(({ id }) => id === own)
    return session === undefined ? [] : [[session, reason] as const]
  })
  const find = (slot: ServiceSession["slot"]) => lost.find(([own]) => own.slot === slot)
  if (!facts.own.some(isActing)) return stopped(facts, [], "session_lost", now)
  const lostMain = find("main")
  const lostPaired = find("paired")
  const withoutLostPaired = () =>
    lostPaired === undefined ? untouched(facts.own) : withoutPaired(facts, facts.own, ...lostPaired, now)
  if (lostMain === undefined) return withoutLostPaired()
  const [main, reason] = lostMain
  const paired = facts.own.find(({ slot }) => slot === "paired")
  if (paired !== undefined && lostPaired === undefined) return promoted(facts, main, paired, reason, now)
  if (isEnded(reason)) return stopped(facts, lost, stopReason(reason), now)
  return { ...withoutLostPaired(), unusable: ourFaults[reason] ?? null }
}
