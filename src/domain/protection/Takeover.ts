/** The conditions that make signals a takeover, and the answer to it. */
import { attemptsRemembered } from "../Limits.ts"
import { after } from "../Moments.ts"
import type { Signal, Takeover } from "./Decision.ts"
import type { Facets, ProtectionFacts, WatchedSession } from "./Facts.ts"
import { accountEvent, type Notice } from "./JournalNotices.ts"
import { isPending, type SessionRow } from "./ProtectionRows.ts"

const recent = (moment: Date | null, now: Date): boolean => moment !== null && after(moment, attemptsRemembered) >= now

/** True if a stranger was listed within the last day, whose session may have ended since. */
export const strangerSeen = (
  { facets, monitor, sessions }: Pick<ProtectionFacts, "facets" | "monitor" | "sessions">,
  now: Date
): boolean =>
  sessions.some((row) => isPending(row) && (recent(row.seen_at, now) || recent(monitor.last_ok_at, now))) ||
  facets.stranger_at !== undefined && recent(new Date(facets.stranger_at), now)

/** Keeps when strangers were last listed whose sessions have ended. */
export const strangersEnded = (
  ended: ReadonlyArray<Pick<WatchedSession, "approved_at" | "baseline" | "service">>,
  listedAt: Date
): Pick<Facets, "stranger_at"> => ended.some(isPending) ? { stranger_at: listedAt.toISOString() } : {}

/** The signals that make a takeover: T6 while a stranger was seen within a day, T1 to T5 while one is there. */
export const takeoverSignals = (
  signals: ReadonlyArray<Signal>,
  strangers: { readonly now: boolean; readonly lately: boolean }
): ReadonlyArray<Signal> =>
  signals.some(({ code }) => code === "T6" && strangers.lately || code !== "T6" && code !== "T7" && strangers.now)
    ? signals.filter(({ code }) => code !== "T7")
    : []

const withHijacked = (row: SessionRow, now: Date): SessionRow => ({
  ...row,
  ending_reason: "hijacked",
  ending_at: now,
  ending_by: null
})

/** Marks every session that is not the service's own; one whose sign-out may have been sent keeps its reason. */
export const hijacked = (rows: ReadonlyArray<SessionRow>, now: Date): ReadonlyArray<SessionRow> =>
  rows.map((row) => row.service || row.ending_intent !== null ? row : withHijacked(row, now))

/** Marks the strangers who came after the takeover was detected. */
export const hijackedSince = (rows: ReadonlyArray<SessionRow>, now: Date): ReadonlyArray<SessionRow> =>
  rows.map((row) => isPending(row) && row.ending_reason === null ? withHijacked(row, now) : row)

/** True if a takeover waits for this session to end, also where a pause withholds it. */
export const isHijacked = (
  { ending_reason, withheld_reason }: Pick<WatchedSession, "ending_reason" | "withheld_reason">
): boolean => ending_reason === "hijacked" || withheld_reason === "hijacked"

/**
 * True if a takeover that an earlier poll detected is still to be stopped. It is forgotten once admins have approved
 * all of its sessions.
 */
export const isOpen = (
  { facets, lockdown }: Pick<ProtectionFacts, "facets" | "lockdown">,
  before: ReadonlyArray<SessionRow>
): boolean =>
  lockdown && facets.takeover !== undefined &&
  (before.some(isHijacked) || before.every(({ approved_at }) => approved_at === null))

const listed = (signals: ReadonlyArray<Signal>) => ({
  signals: [...new Set(signals.map(({ code }) => code))].join(" "),
  changed: [...new Set(signals.map(({ what }) => what))].join(" ")
})

/** The text of the lock's reason. */
export const lockReason = (signals: ReadonlyArray<Signal>): string => listed(signals).changed

/** The event of a takeover, or of signals that are none. */
export const signalNotices = (signals: ReadonlyArray<Signal>, takeover: Takeover | null): ReadonlyArray<Notice> => {
  const changes = signals.filter(({ code }) => code !== "T7")
  if (takeover !== null) {
    const { response, signals } = takeover
    return [[
      accountEvent("takeover.detected", "external", { ...listed(signals), response }),
      { kind: "takeover.detected", signals, response }
    ]]
  }
  return changes.length === 0
    ? []
    : [[
      accountEvent("outside_change.detected", "external", listed(changes)),
      { kind: "outside_change.detected", signals: changes }
    ]]
}

/** The event of a takeover that was stopped. */
export const stoppedNotice = (ended: number): Notice => [
  accountEvent("takeover.stopped", "service", { sessions: ended }),
  { kind: "takeover.stopped", ended }
]
